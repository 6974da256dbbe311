// Writes web/static/vendor: the editor's bundle, KaTeX, two fonts and their licences.
// The output is committed, so that running the site needs no Node. `npm ci && npm run build` builds it again.

import { build } from "esbuild";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, "node_modules");
const vendor = path.join(here, "..", "static", "vendor");

await rm(vendor, { recursive: true, force: true });
await mkdir(vendor, { recursive: true });

// The key bindings of other editors are files of their own, fetched when they are chosen.
const bundle = await build({
  entryPoints: [path.join(here, "src", "editor.js")],
  outdir: path.join(vendor, "editor"), chunkNames: "[name]-[hash]", splitting: true,
  bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none", metafile: true,
});

const katex = path.join(modules, "katex", "dist");
await mkdir(path.join(vendor, "katex", "fonts"), { recursive: true });
for (const font of await readdir(path.join(katex, "fonts"))) {
  if (font.endsWith(".woff2")) await cp(path.join(katex, "fonts", font), path.join(vendor, "katex", "fonts", font));
}
// Every supported browser reads woff2, so other font formats are removed from the folder and the style sheet.
const css = await readFile(path.join(katex, "katex.min.css"), "utf8");
await writeFile(path.join(vendor, "katex", "katex.css"), css.replace(/,url\([^)]*\.(?:woff|ttf)\) format\("[a-z]+"\)/g, ""));
await build({
  entryPoints: [path.join(katex, "katex.mjs")], outfile: path.join(vendor, "katex", "katex.mjs"),
  bundle: true, minify: true, format: "esm", target: "es2022", legalComments: "none",
});

await mkdir(path.join(vendor, "fonts"));
const fonts = ["inter", "jetbrains-mono"];
for (const font of fonts) {
  await cp(
    path.join(modules, "@fontsource-variable", font, "files", `${font}-latin-wght-normal.woff2`),
    path.join(vendor, "fonts", `${font}.woff2`),
  );
}

const packages = new Set(["katex", ...fonts.map((font) => `@fontsource-variable/${font}`)]);
for (const input of Object.keys(bundle.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const notices = [];
for (const name of [...packages].sort()) {
  const { version, license } = JSON.parse(await readFile(path.join(modules, name, "package.json"), "utf8"));
  const file = (await readdir(path.join(modules, name))).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} carries no licence text`);
  notices.push(`${name} ${version} (${license})\n\n${(await readFile(path.join(modules, name, file), "utf8")).trim()}\n`);
}
await writeFile(path.join(vendor, "LICENSES.txt"), notices.join(`\n${"-".repeat(100)}\n\n`));
