// What the editor shows and offers beyond the text itself: colours, completion, help on hover, finding. It is fetched when
// the editor already takes keys, since a slow processor needs as long for this as for the rest of the page.

import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completeAnyWord,
  completeFromList,
  completionKeymap,
} from "@codemirror/autocomplete";
import { HighlightStyle, bracketMatching, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { hoverTooltip, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/**
 * What each grammar adds, by its name in judge/languages. A file of its own, fetched when it is chosen, exports `grammar`:
 * `extensions()`, the `names` that are explained on hover, and `completions` with their type and, if it has one, their help.
 */
const GRAMMARS = { cuda: () => import("./cuda.js"), python: () => import("./triton.js") };
/** Of a grammar that is not known, nothing is coloured or completed. */
const NO_GRAMMAR = { extensions: () => [], names: {}, completions: [] };

function help(signature, text) {
  const box = document.createElement("div");
  box.className = "cm-help";
  const code = document.createElement("code");
  code.textContent = signature;
  const line = document.createElement("p");
  line.textContent = text;
  box.append(code, line);
  return box;
}

/** Help on hover for the language's names and for the arguments of solve. */
const helpOnHover = (names) =>
  hoverTooltip((view, position) => {
    const word = view.state.wordAt(position);
    if (!word) return null;
    const found = names[view.state.sliceDoc(word.from, word.to)];
    return found ? { pos: word.from, end: word.to, above: true, create: () => ({ dom: help(...found) }) } : null;
  });

// ---- colours: the page's custom properties, so that they follow its light or dark theme ----

const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.definitionKeyword], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--code-type)" },
  { tag: [tags.string, tags.character, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
    color: "var(--code-function)",
  },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-meta)" },
]);

/**
 * Returns the extensions.
 * @param {Record<string, [string, string]>} names arguments of `solve`: their declaration and what they are
 * @param {string} name of the language's grammar
 */
export async function comforts(names, name) {
  const grammar = GRAMMARS[name] ? (await GRAMMARS[name]()).grammar : NO_GRAMMAR;
  const argumentCompletions = Object.entries(names).map(([label, [detail, info]]) => ({
    label,
    type: "variable",
    detail,
    info,
    boost: 20,
  }));
  const completions = grammar.completions.map(({ label, type, told }) =>
    told ? { label, type, info: () => help(...told) } : { label, type },
  );
  return [
    ...grammar.extensions(),
    syntaxHighlighting(highlighting),
    bracketMatching(),
    indentOnInput(),
    closeBrackets(),
    search({ top: true }),
    highlightSelectionMatches(),
    helpOnHover({ ...grammar.names, ...names }),
    autocompletion({ override: [completeFromList([...argumentCompletions, ...completions]), completeAnyWord] }),
    keymap.of([...closeBracketsKeymap, ...searchKeymap, ...foldKeymap, ...completionKeymap]),
  ];
}
