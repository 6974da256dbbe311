// Typesets the LaTeX that the server left in .math elements. KaTeX builds DOM nodes here, so no inline style is parsed.

import katex from "../vendor/katex/katex.mjs";

for (const element of document.querySelectorAll(".math")) {
  const source = element.textContent;
  try {
    katex.render(source, element, { displayMode: element.classList.contains("block"), throwOnError: true, strict: false });
  } catch {
    element.textContent = source; // LaTeX that KaTeX does not support stays readable as text
  }
}
