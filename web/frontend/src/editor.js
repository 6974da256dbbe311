// The editor: CodeMirror 6 with the judge's messages at their lines and the heat of each line; comforts.js adds the rest.
// mount() replaces a textarea and keeps its value up to date, so that the form works as it does without a script.

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory } from "@codemirror/commands";
import { foldGutter, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { Compartment, EditorState, Prec, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  drawSelection,
  dropCursor,
  gutter,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";

// ---- the heat of lines: the share of the time that each took ----

class HeatMarker extends GutterMarker {
  constructor(share, level) {
    super();
    this.share = share;
    this.level = level;
  }
  eq(other) {
    return this.share === other.share && this.level === other.level;
  }
  toDOM() {
    const element = document.createElement("span");
    element.className = `heat heat-${this.level}`;
    element.textContent = this.share;
    element.title = `${this.share} of the modelled time`;
    return element;
  }
}

const setHeat = StateEffect.define();
const heatField = StateField.define({
  create: () => new RangeSetBuilder().finish(),
  update(markers, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setHeat)) continue;
      const builder = new RangeSetBuilder();
      for (const { line, share, level } of effect.value) {
        if (line > transaction.state.doc.lines) continue;
        const at = transaction.state.doc.line(line).from;
        builder.add(at, at, new HeatMarker(share, level));
      }
      return builder.finish();
    }
    return markers.map(transaction.changes);
  },
});
const heatGutter = gutter({ class: "cm-heat-gutter", markers: (view) => view.state.field(heatField) });

// ---- tints: the colors that tell which instructions belong to which line ----

const setTints = StateEffect.define();
const tintField = StateField.define({
  create: () => Decoration.none,
  update(tints, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(setTints)) continue;
      const { doc } = transaction.state;
      return Decoration.set(
        effect.value
          .filter(({ line }) => line <= doc.lines)
          .map(({ line, tint }) => Decoration.line({ class: `tint-${tint}` }).range(doc.line(line).from)),
      );
    }
    return tints.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

// ---- looks: colours are the page's custom properties ----

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--code-surface)", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-content": { caretColor: "var(--accent)", padding: "0.5rem 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--code-selection)",
  },
  ".cm-activeLine": { backgroundColor: "var(--code-active)" },
  ".cm-gutters": {
    backgroundColor: "var(--code-surface)",
    color: "var(--faint)",
    border: "none",
    paddingLeft: "0.25rem",
  },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--text)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--code-match)", outline: "none" },
  ".cm-selectionMatch": { backgroundColor: "var(--code-match)" },
  ".cm-panels": { backgroundColor: "var(--surface-2)", color: "var(--text)", borderColor: "var(--line)" },
  ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "0.5rem 2.25rem 0.5rem 0.75rem", fontFamily: "var(--sans)" },
  ".cm-panel.cm-search label": { fontSize: "0.8125rem", fontWeight: "500" },
  ".cm-panel.cm-search br": { content: "''", display: "block", marginTop: "0.25rem" },
  ".cm-textfield": {
    width: "14rem",
    minHeight: "1.875rem",
    padding: "0.2rem 0.5rem",
    fontSize: "0.8125rem",
    display: "inline-block",
  },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    color: "var(--text)",
    font: "500 0.8125rem var(--sans)",
    padding: "0.25rem 0.6rem",
    cursor: "pointer",
  },
  ".cm-panel.cm-search [name=close]": {
    color: "var(--muted)",
    fontSize: "1.25rem",
    cursor: "pointer",
    top: "0.25rem",
    right: "0.5rem",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    color: "var(--text)",
  },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "0.8125rem" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
  ".cm-completionInfo": { maxWidth: "26rem" },
  ".cm-help": { padding: "0.5rem 0.7rem", maxWidth: "30rem" },
  ".cm-help code": { fontFamily: "var(--mono)", fontSize: "0.8125rem", overflowWrap: "anywhere" },
  ".cm-help p": { margin: "0.25rem 0 0", font: "400 0.8438rem/1.45 var(--sans)", color: "var(--muted)" },
  ".cm-diagnostic": {
    font: "500 0.8438rem/1.5 var(--sans)",
    padding: "0.4rem 0.7rem",
    borderLeftWidth: "4px",
    maxWidth: "40rem",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--red)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--amber)" },
  ".cm-lintRange-error, .cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--red) 1px",
    textUnderlineOffset: "4px",
  },
  ".cm-lintRange-warning": { textDecorationColor: "var(--amber)" },
  ".cm-gutter-lint": { width: "1.1rem" },
  ".cm-lint-marker": {
    width: "0.8rem",
    height: "0.8rem",
    borderRadius: "50%",
    content: "''",
    margin: "0.35rem 0.1rem",
  },
  ".cm-lint-marker-error": { content: "''", backgroundColor: "var(--red)" },
  ".cm-lint-marker-warning": { content: "''", backgroundColor: "var(--amber)", borderRadius: "2px" },
  ".cm-heat-gutter .cm-gutterElement": { minWidth: "3.1rem", textAlign: "right", padding: "0 0.4rem 0 0" },
  ".cm-heat-gutter .heat": {
    fontSize: "0.75rem",
    fontVariantNumeric: "tabular-nums",
    borderRight: "3px solid",
    paddingRight: "0.35rem",
  },
  ".cm-cuda-qualifier, .cm-cuda-qualifier *": { color: "var(--code-cuda) !important", fontWeight: "600" },
  ".cm-cuda-builtin, .cm-cuda-builtin *": { color: "var(--code-builtin) !important" },
  ".cm-cuda-launch, .cm-cuda-launch *": { color: "var(--code-cuda) !important", fontWeight: "600" },
});

// ---- preferences ----

const KEYMAPS = {
  standard: async () => [],
  vim: async () => (await import("./keys_vim.js")).vimKeys(),
  emacs: async () => (await import("./keys_emacs.js")).emacsKeys(),
};
const tabs = (width) => [indentUnit.of(" ".repeat(width)), EditorState.tabSize.of(width)];
const fontSize = (pixels) => EditorView.theme({ "&": { fontSize: `${pixels}px` } });

const LEAVE_WITHIN_MS = 2000;

/**
 * Types over a selection in the editor's own state. Chromium would give the new text the colours of the old by an inline
 * style, which the page's content security policy refuses.
 */
const typeOverSelection = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { state } = view;
    if (
      event.inputType !== "insertText" ||
      !event.data ||
      event.isComposing ||
      state.readOnly ||
      state.selection.main.empty
    )
      return false;
    event.preventDefault();
    const { from, to } = state.selection.main;
    const insert = () =>
      state.update(state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    if (!state.facet(EditorView.inputHandler).some((handler) => handler(view, from, to, event.data, insert)))
      view.dispatch(insert());
    return true;
  },
});

/** Another text in the place of the current one: one step to undo. */
const replacement = (state, text) => ({
  changes: { from: 0, to: state.doc.length, insert: text },
  annotations: isolateHistory.of("full"),
});

/**
 * Replaces `textarea` by an editor, which takes over its selection, its place and the focus.
 * @param {HTMLTextAreaElement} textarea stays in the form and holds the current value
 * @param {object} options
 * @param {string} options.nonce of the page's style sheets
 * @param {string} options.label what screen readers call the editor
 * @param {{keys: "standard" | "vim" | "emacs", tabWidth: number, fontSize: number}} options.preferences
 * @param {Record<string, [string, string]>} options.names arguments of `solve`: their declaration and what they are
 * @param {string} options.grammar of the language (comforts.js)
 * @param {string[]} options.texts what undo goes back to, the oldest first; the last is the current one
 * @param {(source: string) => void} [options.onChange]
 * @param {() => void} [options.onRun] Mod-Enter
 * @param {() => void} [options.onSubmit] Mod-Shift-Enter
 */
export function mount(textarea, options) {
  const pressed = (action) => () => {
    action?.();
    return true;
  };
  const { keys: chosenKeys, tabWidth: chosenWidth, fontSize: chosenSize } = options.preferences;
  const keys = new Compartment(),
    tabWidth = new Compartment(),
    size = new Compartment(),
    heat = new Compartment();
  const more = new Compartment();
  const { selectionStart, selectionEnd, selectionDirection, scrollTop } = textarea;
  const focused = document.activeElement === textarea;
  let { grammar } = options;
  let comforts = null; // once they are there
  const showGrammar = async () => {
    const chosen = grammar;
    const added = await comforts(options.names, chosen);
    // Another may have been chosen while this one was fetched.
    if (chosen === grammar) view.dispatch({ effects: more.reconfigure(added) });
  };
  const extensions = [
    EditorView.cspNonce.of(options.nonce),
    Prec.highest(
      keymap.of([
        { key: "Mod-Enter", run: pressed(options.onRun) },
        { key: "Mod-Shift-Enter", run: pressed(options.onSubmit) },
        // Tab then leaves the editor, whatever else Esc does, such as closing a list of completions.
        {
          key: "Escape",
          run: (view) => {
            view.setTabFocusMode(LEAVE_WITHIN_MS);
            return false;
          },
        },
      ]),
    ),
    keys.of([]),
    more.of([]),
    typeOverSelection,
    lintGutter(),
    lineNumbers(),
    tintField,
    heatField,
    heat.of([]),
    foldGutter(),
    highlightActiveLineGutter(),
    history(),
    drawSelection(),
    dropCursor(),
    EditorState.allowMultipleSelections.of(true),
    tabWidth.of(tabs(chosenWidth)),
    size.of(fontSize(chosenSize)),
    highlightActiveLine(),
    theme,
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
    EditorView.contentAttributes.of({ "aria-label": options.label }),
    EditorView.updateListener.of((update) => {
      if (!update.docChanged) return;
      textarea.value = update.state.doc.toString();
      options.onChange?.(textarea.value);
    }),
  ];
  let state = EditorState.create({ doc: options.texts[0], extensions });
  for (const text of options.texts.slice(1)) state = state.update(replacement(state, text)).state;
  if (focused) {
    const ends = [selectionStart, selectionEnd];
    if (selectionDirection === "backward") ends.reverse();
    state = state.update({ selection: { anchor: ends[0], head: ends[1] } }).state;
  }
  const view = new EditorView({ state });
  textarea.hidden = true;
  textarea.after(view.dom);
  if (scrollTop) view.scrollDOM.scrollTop = scrollTop;
  if (focused) view.focus();
  const chooseKeys = async (name) =>
    view.dispatch({ effects: keys.reconfigure(await (KEYMAPS[name] ?? KEYMAPS.standard)()) });
  if (chosenKeys !== "standard") chooseKeys(chosenKeys);

  const lineRange = (number) => {
    const line = view.state.doc.line(Math.min(Math.max(number, 1), view.state.doc.lines));
    const indent = /^\s*/.exec(line.text)[0].length;
    return { from: line.from + Math.min(indent, line.length), to: line.to };
  };
  return {
    value: () => view.state.doc.toString(),
    replace: (source) => view.dispatch(replacement(view.state, source)),
    goTo: (line) => {
      const at = view.state.doc.line(Math.min(Math.max(line, 1), view.state.doc.lines)).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    focus: () => view.focus(),
    /** Fetches and adds colours, completion, help on hover and the find panel. */
    addComforts: async () => {
      ({ comforts } = await import("./comforts.js"));
      await showGrammar();
    },
    /** Colours and completes by another grammar. */
    setGrammar: (chosen) => {
      grammar = chosen;
      if (comforts) showGrammar();
    },
    /** Shows messages at their lines; F8 goes to the next. @param {{line: number, text: string, error: boolean}[]} notes */
    showNotes: (notes) =>
      view.dispatch(
        setDiagnostics(
          view.state,
          notes.map(({ line, text, error }) => ({
            ...lineRange(line),
            severity: error ? "error" : "warning",
            message: text,
          })),
        ),
      ),
    /** Shows the share of the time beside each line. @param {{line: number, share: string, level: number}[]} lines in order */
    showHeat: (lines) =>
      view.dispatch({ effects: [setHeat.of(lines), heat.reconfigure(lines.length ? heatGutter : [])] }),
    /** Colors lines as their machine code is. @param {{line: number, tint: number}[]} lines in order */
    showTints: (lines) => view.dispatch({ effects: setTints.of(lines) }),
    /** @param {{keys: "standard" | "vim" | "emacs", tabWidth: number, fontSize: number}} chosen */
    prefer: async (chosen) => {
      view.dispatch({
        effects: [tabWidth.reconfigure(tabs(chosen.tabWidth)), size.reconfigure(fontSize(chosen.fontSize))],
      });
      await chooseKeys(chosen.keys);
      view.requestMeasure();
    },
  };
}
