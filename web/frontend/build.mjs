// Writes web/static/vendor: the editor's bundle, three fonts and their licences.
// The output is committed, so that running the site needs no Node. `npm ci && npm run build` builds it again.

import { build } from "esbuild";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import subsetFont from "subset-font";

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, "node_modules");
const vendor = path.join(here, "..", "static", "vendor");

await rm(vendor, { recursive: true, force: true });
await mkdir(vendor, { recursive: true });

// The key bindings of other editors are files of their own, fetched when they are chosen.
const bundle = await build({
  entryPoints: [path.join(here, "src", "editor.js")],
  outdir: path.join(vendor, "editor"),
  chunkNames: "[name]-[hash]",
  splitting: true,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  metafile: true,
});

await mkdir(path.join(vendor, "fonts"));
// Only what the site's own texts use: Latin letters, and the signs of arithmetic and of good typography, in the weights
// from regular to bold. Other letters come from the reader's fonts.
const range = (first, last) => String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, i) => first + i));
const characters = `${range(0x20, 0x7e)}${range(0xa0, 0x17f)}–—‘’“”„†•…′″⁄€™←↑→↓−≈≠≤≥×·÷±√∞∑∏µμ`;
const fonts = ["inter", "jetbrains-mono"];
for (const font of fonts) {
  const whole = path.join(modules, "@fontsource-variable", font, "files", `${font}-latin-wght-normal.woff2`);
  const subset = await subsetFont(await readFile(whole), characters, {
    targetFormat: "woff2",
    variationAxes: { wght: { min: 400, max: 700 } },
    noLayoutClosure: true,
  });
  await writeFile(path.join(vendor, "fonts", `${font}.woff2`), subset);
}

// Of the font for formulae, what the statements of challenges need: its variable letters are mathematical italics.
const formulae =
  `${range(0x20, 0x7e)}¬¯±·×ħ${range(0x391, 0x3c9)}ϕϵ…′←↑→↓↔↦⇒∀∂∃∅∇∈∉∏∑−∓∘√∝∞∧∨∩∪∫≈≠≡≤≥≪≫⊂⊆⊕⊗⊙⊤⊥⋅⋙⋯⌈⌉⌊⌋⏟⟨⟩` +
  `${range(0x1d434, 0x1d467)}ℎℓℝ${range(0x1d49c, 0x1d4cf)}${range(0x1d6e2, 0x1d71b)}`;
const maths = await readFile(
  path.join(modules, "@fontsource", "stix-two-math", "files", "stix-two-math-latin-400-normal.woff2"),
);
await writeFile(
  path.join(vendor, "fonts", "stix-two-math.woff2"),
  await subsetFont(maths, formulae, { targetFormat: "woff2" }),
);

const packages = new Set(["@fontsource/stix-two-math", ...fonts.map((font) => `@fontsource-variable/${font}`)]);
for (const input of Object.keys(bundle.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const notices = [];
for (const name of [...packages].sort()) {
  const { version, license } = JSON.parse(await readFile(path.join(modules, name, "package.json"), "utf8"));
  const file = (await readdir(path.join(modules, name))).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} carries no licence text`);
  notices.push(
    `${name} ${version} (${license})\n\n${(await readFile(path.join(modules, name, file), "utf8")).trim()}\n`,
  );
}
await writeFile(path.join(vendor, "LICENSES.txt"), notices.join(`\n${"-".repeat(100)}\n\n`));
