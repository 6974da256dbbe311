// What the editor shows and offers beyond the text itself: colours, completion, help on hover, finding. It is fetched when
// the editor already takes keys, since a slow processor needs as long for this as for the rest of the page.

import {
  autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completeFromList, completionKeymap,
} from "@codemirror/autocomplete";
import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { HighlightStyle, bracketMatching, foldKeymap, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Decoration, MatchDecorator, ViewPlugin, hoverTooltip, keymap } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { CUDA_NAMES, CUDA_WORDS, isQualifier } from "./cuda.js";
import { TRITON_NAMES, TRITON_WORDS, written } from "./triton.js";

const wordPattern = Object.keys(CUDA_NAMES).sort((one, other) => other.length - one.length).join("|");
const cudaWords = new MatchDecorator({
  regexp: new RegExp(`\\b(?:${wordPattern}|__forceinline__|__noinline__|__managed__)\\b|<<<|>>>`, "g"),
  decoration: (match) => (isQualifier(match[0]) ? qualifier : /^\w/.test(match[0]) ? builtin : launch),
});
const qualifier = Decoration.mark({ class: "cm-cuda-qualifier" });
const builtin = Decoration.mark({ class: "cm-cuda-builtin" });
const launch = Decoration.mark({ class: "cm-cuda-launch" });

const markCuda = ViewPlugin.fromClass(
  class {
    constructor(view) { this.decorations = cudaWords.createDeco(view); }
    update(update) { this.decorations = cudaWords.updateDeco(update, this.decorations); }
  },
  { decorations: (plugin) => plugin.decorations },
);

// ---- completion and help ----

const cudaCompletions = [
  ...Object.entries(CUDA_NAMES).map(([label, [detail, info]]) => ({
    label, type: isQualifier(label) ? "keyword" : "function", info: () => help(detail, info),
  })),
  ...CUDA_WORDS.map((label) => ({ label, type: "keyword" })),
];

const tritonCompletions = [
  ...Object.entries(TRITON_NAMES).map(([name, [detail, info]]) => ({ label: written(name), type: "function", info: () => help(detail, info) })),
  ...TRITON_WORDS.map((label) => ({ label, type: "keyword" })),
];

/** What a grammar adds, by its name in judge/languages; of one that is not known, nothing is coloured or completed. */
const GRAMMARS = {
  cuda: { extensions: () => [cpp(), markCuda], names: CUDA_NAMES, completions: cudaCompletions },
  python: { extensions: () => [python()], names: TRITON_NAMES, completions: tritonCompletions },
};
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
const helpOnHover = (names) => hoverTooltip((view, position) => {
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
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--code-function)" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-meta)" },
]);

/**
 * Returns the extensions.
 * @param {Record<string, [string, string]>} names arguments of `solve`: their declaration and what they are
 * @param {string} grammar of the language
 */
export function comforts(names, grammar) {
  const chosen = GRAMMARS[grammar] ?? NO_GRAMMAR;
  const argumentCompletions = Object.entries(names).map(([label, [detail, info]]) => (
    { label, type: "variable", detail, info, boost: 20 }
  ));
  return [
    ...chosen.extensions(), syntaxHighlighting(highlighting), bracketMatching(), indentOnInput(), closeBrackets(), search({ top: true }),
    highlightSelectionMatches(), helpOnHover({ ...chosen.names, ...names }),
    autocompletion({ override: [completeFromList([...argumentCompletions, ...chosen.completions]), completeAnyWord] }),
    keymap.of([...closeBracketsKeymap, ...searchKeymap, ...foldKeymap, ...completionKeymap]),
  ];
}
