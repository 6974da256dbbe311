// The draft: kept on the server for whoever is signed in, in this browser for everybody else.
//
// A save names the version that it was written on. If another window saved since, the server answers 409 with the newer
// draft, and the user decides which one stays; the other remains in the history.

import { storage } from "./storage.js";

const SAVE_AFTER_MS = 1200;
const form = document.getElementById("workbench-form");
const status = document.getElementById("saved");
const conflict = document.getElementById("conflict");
const { slug, user, draft: url, drafts: listUrl, draftVersion } = form.dataset;
const anonymousKey = `draft:${slug}`;
const unsavedKey = `unsaved:${user}:${slug}`; // bridges the moment between a key press and its save

/**
 * Keeps the editor's text.
 * @param {object} editor of editor.js
 * @param {() => string} starter of the language that is chosen
 * @param {() => string} language that is chosen
 * @returns {{changed: (source: string) => void, replacing: () => void, leave: (other: string) => Promise<string|null>}}
 *   `replacing` announces that another text comes: what was there becomes a version of the history. `leave` keeps the text
 *   and returns the draft in another language, or null where there is none
 */
export function keepDraft(editor, starter, language) {
  return url ? keepOnServer(editor, starter, language) : keepInBrowser(editor, starter, language);
}

function keepInBrowser(editor, starter, language) {
  const stored = storage.get(anonymousKey);
  const shown = editor.value();
  if (stored !== null && stored !== shown) {
    editor.replace(stored);
    status.textContent = "Draft restored";
    if ("edited" in form.dataset) {
      // the page came with another text: the draft is one undo away
      editor.replace(shown);
      status.textContent = "Your draft comes back with Ctrl+Z";
    }
  }
  const changed = (source) => {
    const written = source === starter() ? (storage.remove(anonymousKey), false) : storage.set(anonymousKey, source);
    status.textContent = written ? "Draft kept in this browser" : "";
  };
  const leave = async (other) => {
    storage.set(`${anonymousKey}:${language()}`, editor.value());
    return storage.get(`${anonymousKey}:${other}`);
  };
  return { changed, replacing: () => {}, leave };
}

function keepOnServer(editor, starter, language) {
  let version = Number(draftVersion);
  let savedSource = "edited" in form.dataset ? null : editor.value();
  let timer = 0;
  let busy = false;
  let newSpell = false; // the next save leaves the version before it in the history

  async function save({ keepalive = false } = {}) {
    clearTimeout(timer);
    const source = editor.value();
    if (source === savedSource || busy) return;
    if (version === 0 && source === starter()) return;
    busy = true;
    const keepsOld = newSpell;
    newSpell = false;
    try {
      const answer = await fetch(url, {
        method: "PUT",
        keepalive,
        body: JSON.stringify({ source, base: version, new_spell: keepsOld, language: language() }),
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json",
          "X-CSRFToken": form.elements.csrf_token.value,
        },
      });
      const told = await answer.json();
      if (answer.status === 409) {
        askWhichStays(told);
        return;
      }
      if (!answer.ok) {
        status.textContent = told.detail ?? "Not saved";
        return;
      }
      version = told.version;
      savedSource = source;
      status.textContent = "Saved";
      if (editor.value() === source) storage.remove(unsavedKey);
    } catch {
      newSpell ||= keepsOld;
      status.textContent = "Not saved: the server cannot be reached";
      timer = setTimeout(() => save(), 5000);
    } finally {
      busy = false;
    }
    if (conflict.hidden && editor.value() !== source) schedule();
  }
  function schedule() {
    storage.set(unsavedKey, JSON.stringify({ source: editor.value(), base: version, newSpell }));
    clearTimeout(timer);
    timer = setTimeout(() => save(), SAVE_AFTER_MS);
  }

  function load(other) {
    version = other.version;
    savedSource = other.source;
    editor.replace(other.source);
    storage.remove(unsavedKey);
    status.textContent = "Saved";
  }
  function askWhichStays(other) {
    conflict.hidden = false;
    status.textContent = "Not saved";
    document.getElementById("take-other").onclick = () => {
      conflict.hidden = true;
      load(other);
      editor.focus();
    };
    document.getElementById("keep-mine").onclick = () => {
      conflict.hidden = true;
      version = other.version;
      newSpell = true;
      save();
      editor.focus();
    };
  }

  // Another window may have saved while this one was in the background.
  document.addEventListener("visibilitychange", async () => {
    if (document.visibilityState === "hidden") {
      save({ keepalive: true });
      return;
    }
    if (!conflict.hidden) return;
    try {
      const newer = await (await fetch(url, { headers: { Accept: "application/json" } })).json();
      if (newer.version <= version) return;
      if (editor.value() === savedSource) load(newer);
      else askWhichStays(newer);
    } catch {
      /* the next save will tell */
    }
  });
  addEventListener("pagehide", () => save({ keepalive: true }));

  const history = document.getElementById("history");
  const list = document.getElementById("versions");
  history.addEventListener("toggle", async () => {
    if (!history.open) return;
    await save();
    list.textContent = "Loading…";
    try {
      const versions = await (await fetch(listUrl, { headers: { Accept: "application/json" } })).json();
      list.replaceChildren(...versions.map((each) => versionItem(each)));
      if (!versions.length) list.textContent = "Nothing is saved yet.";
    } catch {
      list.textContent = "The server cannot be reached.";
    }
  });
  function versionItem(each) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `${new Date(each.saved_at).toLocaleString()}${each.version === version ? " (now)" : ""}`;
    button.addEventListener("click", async () => {
      const chosen = await (
        await fetch(`${listUrl}/${each.version}`, { headers: { Accept: "application/json" } })
      ).json();
      history.open = false;
      newSpell = true;
      editor.replace(chosen.source);
      await save();
      editor.focus();
    });
    item.append(button);
    return item;
  }

  if (savedSource === null) {
    // The source of a submission: the draft that was there stays in the history.
    newSpell = true;
    save();
  } else if (storage.get(unsavedKey) !== null) {
    const unsaved = JSON.parse(storage.get(unsavedKey));
    version = unsaved.base;
    newSpell = unsaved.newSpell === true;
    if (unsaved.source !== editor.value()) editor.replace(unsaved.source);
    save();
  } else {
    // What was written before signing in goes on top of the draft; the draft stays in the history.
    const before = storage.get(anonymousKey);
    if (before !== null) {
      newSpell = true;
      if (before !== editor.value()) editor.replace(before);
      save().then(() => {
        if (editor.value() === savedSource) storage.remove(anonymousKey);
      });
    }
  }
  async function leave(other) {
    await save();
    savedSource = null; // the same text in another language is another draft
    try {
      const answer = await fetch(`${url}?language=${encodeURIComponent(other)}`, {
        headers: { Accept: "application/json" },
      });
      const draft = await answer.json();
      return draft.version ? draft.source : null;
    } catch {
      return null;
    }
  }
  return {
    changed: schedule,
    replacing: () => {
      save();
      newSpell = true;
    },
    leave,
  };
}
