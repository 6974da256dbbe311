// The editor that the rest of the workbench talks to: the page's text area, which takes keys at once, until CodeMirror has
// been fetched and takes its place with the text, the selection and the focus. Without it the text area goes on.

/**
 * Makes the text area an editor.
 * @param {HTMLTextAreaElement} textarea stays in the form and holds the current value
 * @param {object} options those of mount() in vendor/editor/editor.js, but for `texts`
 */
export function openEditor(textarea, options) {
  let rich = null; // CodeMirror, once it is there
  let { preferences } = options;
  let notes = [],
    heat = [],
    tints = [];
  let composing = false;
  const texts = [textarea.value]; // what undo goes back to, the oldest first

  const onInput = () => options.onChange?.(textarea.value);
  const onKeyDown = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    (event.shiftKey ? options.onSubmit : options.onRun)?.();
  };
  const showSize = () => {
    textarea.style.fontSize = `${preferences.fontSize}px`;
  };
  textarea.addEventListener("input", onInput);
  textarea.addEventListener("keydown", onKeyDown);
  showSize();

  function replace(source) {
    if (rich) {
      rich.replace(source);
      return;
    }
    if (textarea.value === source) return;
    if (texts.at(-1) !== textarea.value) texts.push(textarea.value);
    textarea.value = source;
    onInput();
  }

  function goTo(line) {
    if (rich) {
      rich.goTo(line);
      return;
    }
    const before = textarea.value
      .split("\n")
      .slice(0, line - 1)
      .join("\n");
    const at = Math.min(before.length + (line > 1 ? 1 : 0), textarea.value.length);
    textarea.setSelectionRange(at, at);
    textarea.focus();
  }

  /** Resolves when no half-written character of an input method would be lost. */
  const composed = () =>
    new Promise((resolve) => {
      if (!composing) {
        resolve();
        return;
      }
      textarea.addEventListener("compositionend", () => setTimeout(resolve), { once: true });
    });
  textarea.addEventListener("compositionstart", () => {
    composing = true;
  });
  textarea.addEventListener("compositionend", () => {
    composing = false;
  });

  return {
    value: () => (rich ? rich.value() : textarea.value),
    replace,
    goTo,
    focus: () => (rich ?? textarea).focus(),
    showNotes: (shown) => {
      notes = shown;
      rich?.showNotes(notes);
    },
    showHeat: (shown) => {
      heat = shown;
      rich?.showHeat(heat);
    },
    showTints: (shown) => {
      tints = shown;
      rich?.showTints(tints);
    },
    setGrammar: (chosen) => {
      options.grammar = chosen;
      rich?.setGrammar(chosen);
    },
    prefer: (chosen) => {
      preferences = chosen;
      if (rich) rich.prefer(chosen);
      else showSize();
    },
    /** Fetches CodeMirror, puts it in the text area's place, then adds its comforts. */
    enrich: async () => {
      const { mount } = await import("../vendor/editor/editor.js");
      await composed();
      textarea.removeEventListener("input", onInput);
      textarea.removeEventListener("keydown", onKeyDown);
      if (texts.at(-1) !== textarea.value) texts.push(textarea.value);
      rich = mount(textarea, { ...options, preferences, texts });
      if (notes.length) rich.showNotes(notes);
      if (heat.length) rich.showHeat(heat);
      if (tints.length) rich.showTints(tints);
      performance.mark("editor-ready");
      await rich.addComforts();
    },
  };
}
