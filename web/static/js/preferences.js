// The editor's preferences (keys, tab width, font size), chosen in its menu and kept in this browser.

import { storage } from "./storage.js";

const DEFAULTS = { keys: "standard", tabWidth: 4, fontSize: 14 };
const keys = document.getElementById("prefer-keys");
const tabWidth = document.getElementById("prefer-tab");
const fontSize = document.getElementById("prefer-size");

/** Returns the preferences that are kept. */
export function readPreferences() {
  try {
    return { ...DEFAULTS, ...JSON.parse(storage.get("editor") ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

/** Shows the preferences in the menu, and gives the editor those that are chosen there. */
export function offerPreferences(editor, chosen) {
  keys.value = chosen.keys;
  tabWidth.value = String(chosen.tabWidth);
  fontSize.value = String(chosen.fontSize);
  for (const control of [keys, tabWidth, fontSize]) {
    control.addEventListener("change", () => {
      const next = { keys: keys.value, tabWidth: Number(tabWidth.value), fontSize: Number(fontSize.value) };
      storage.set("editor", JSON.stringify(next));
      editor.prefer(next);
    });
  }
}
