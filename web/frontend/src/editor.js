// The CUDA editor: CodeMirror 6 with C++ highlighting, CUDA keywords and the usual key bindings of an IDE.
// mount() replaces a textarea and keeps its value up to date, so that the form works as it does without a script.

import { autocompletion, closeBrackets, closeBracketsKeymap, completeAnyWord, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cpp } from "@codemirror/lang-cpp";
import {
  HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit, syntaxHighlighting,
} from "@codemirror/language";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, Prec } from "@codemirror/state";
import {
  Decoration, EditorView, MatchDecorator, ViewPlugin, drawSelection, dropCursor, highlightActiveLine,
  highlightActiveLineGutter, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

const cudaWords = new MatchDecorator({
  regexp: /\b__(?:global|device|host|shared|constant|managed|restrict|forceinline|noinline|launch_bounds|syncthreads|syncwarp)__\b|\b__sync(?:threads|warp)\b|\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b|<<<|>>>/g,
  decoration: (match) => (/^__/.test(match[0]) ? qualifier : /^[a-z]/.test(match[0]) ? builtin : launch),
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

// Colours are the page's custom properties, so the editor follows the page's light or dark theme.
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.definitionKeyword], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.typeName)], color: "var(--code-type)" },
  { tag: [tags.string, tags.character, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))], color: "var(--code-function)" },
  { tag: [tags.processingInstruction, tags.meta], color: "var(--code-meta)" },
]);

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--code-surface)", fontSize: "0.875rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--accent)", padding: "0.75rem 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--code-selection)",
  },
  ".cm-activeLine": { backgroundColor: "var(--code-active)" },
  ".cm-gutters": { backgroundColor: "var(--code-surface)", color: "var(--faint)", border: "none", paddingLeft: "0.25rem" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--code-match)", outline: "none" },
  ".cm-selectionMatch": { backgroundColor: "var(--code-match)" },
  ".cm-panels": { backgroundColor: "var(--surface-2)", color: "var(--text)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", borderColor: "var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-cuda-qualifier, .cm-cuda-qualifier *": { color: "var(--code-cuda) !important", fontWeight: "600" },
  ".cm-cuda-builtin, .cm-cuda-builtin *": { color: "var(--code-builtin) !important" },
  ".cm-cuda-launch, .cm-cuda-launch *": { color: "var(--code-cuda) !important", fontWeight: "600" },
});

/**
 * Replaces `textarea` by an editor.
 * @param {HTMLTextAreaElement} textarea stays in the form and holds the current value
 * @param {{nonce: string, label: string, onChange?: (source: string) => void, onRun?: () => void, onSubmit?: () => void}} options
 * @returns {{value: () => string, replace: (source: string) => void, goTo: (line: number) => void, focus: () => void}}
 */
export function mount(textarea, options) {
  const pressed = (action) => () => { action?.(); return true; };
  const view = new EditorView({
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        EditorView.cspNonce.of(options.nonce),
        Prec.highest(keymap.of([
          { key: "Mod-Enter", run: pressed(options.onRun) },
          { key: "Mod-Shift-Enter", run: pressed(options.onSubmit) },
        ])),
        lineNumbers(), foldGutter(), highlightActiveLineGutter(), history(), drawSelection(), dropCursor(),
        EditorState.allowMultipleSelections.of(true), indentOnInput(), indentUnit.of("    "), bracketMatching(),
        closeBrackets(), autocompletion({ override: [completeAnyWord] }), highlightActiveLine(),
        highlightSelectionMatches(), cpp(), syntaxHighlighting(highlighting), markCuda, theme,
        keymap.of([
          ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap,
          ...completionKeymap, indentWithTab,
        ]),
        EditorView.contentAttributes.of({ "aria-label": options.label }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.doc.toString();
          options.onChange?.(textarea.value);
        }),
      ],
    }),
  });
  textarea.hidden = true;
  textarea.after(view.dom);
  return {
    value: () => view.state.doc.toString(),
    replace: (source) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: source } }),
    goTo: (line) => {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
  };
}
