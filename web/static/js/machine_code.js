// The machine code of what is in the editor, made while one types. The server keeps one text for each user and challenge, and
// makes it when no submission waits; this page keeps what it has seen.

const AFTER_TYPING_MS = 700,
  ASK_AGAIN_MS = 700,
  KEPT = 12;
const TINTS = 6; // as in web/submissions/assembly.py

/**
 * @param {HTMLElement} panel where it is shown
 * @param {{url: string, csrfToken: string, language: () => string | undefined, editor: object}} options
 */
export function showMachineCode(panel, { url, csrfToken, language, editor }) {
  const status = panel.querySelector('[role="status"]'),
    body = panel.querySelector('[data-part="code"]');
  const answers = new Map(); // by what was asked, the oldest first
  const chosen = { arch: "", view: "ptx" };
  let isOpen = false,
    timer = 0,
    asked = "";

  function show({ html, lines }) {
    const { scrollTop } = panel;
    body.innerHTML = html; // of this site
    panel.scrollTop = scrollTop;
    body.classList.remove("stale");
    status.textContent = "";
    editor.showTints(lines.map((line) => ({ line, tint: line % TINTS })));
  }

  async function ask() {
    const form = { source: editor.value(), language: language() ?? "", ...chosen };
    const key = JSON.stringify(form);
    asked = key;
    if (answers.has(key)) {
      show(answers.get(key));
      return;
    }
    body.classList.add("stale");
    status.textContent = "Compiling";
    try {
      const answer = await fetch(url, {
        method: "POST",
        body: new URLSearchParams(form),
        headers: { Accept: "application/json", "X-CSRFToken": csrfToken },
      });
      const found = await answer.json();
      if (!isOpen || asked !== key) return;
      if (!answer.ok) {
        status.textContent = found.detail;
        return;
      }
      if (found.working) {
        timer = setTimeout(ask, ASK_AGAIN_MS);
        return;
      }
      answers.set(key, found);
      if (answers.size > KEPT) answers.delete(answers.keys().next().value);
      show(found);
    } catch {
      if (isOpen && asked === key) status.textContent = "The server could not be reached. Type, or open the tab again.";
    }
  }

  panel.addEventListener("change", ({ target }) => {
    if (!target.dataset.choice) return;
    chosen[target.dataset.choice] = target.value;
    clearTimeout(timer);
    ask();
  });

  return {
    open() {
      isOpen = true;
      clearTimeout(timer);
      ask();
    },
    close() {
      isOpen = false;
      clearTimeout(timer);
      editor.showTints([]);
    },
    changed() {
      if (!isOpen) return;
      asked = "";
      body.classList.add("stale");
      clearTimeout(timer);
      timer = setTimeout(ask, AFTER_TYPING_MS);
    },
  };
}
