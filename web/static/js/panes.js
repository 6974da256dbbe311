// The panes of a challenge's page: dividers that are dragged or moved by keys, tabs that show other pages' main parts, full screen.

import { storage } from "./storage.js";

const workspace = document.getElementById("workspace");

// ---- dividers: their place is a share of the room, kept in this browser ----

/** Makes `element` divide `room`: `property` holds the share, in per cent, of what comes before it. */
function makeDivider(element, property, room) {
  const least = Number(element.getAttribute("aria-valuemin"));
  const most = Number(element.getAttribute("aria-valuemax"));
  const isUpright = () => element.clientHeight > element.clientWidth;
  const shareAt = ({ clientX, clientY }) => {
    const box = room.getBoundingClientRect();
    return isUpright() ? (100 * (clientX - box.left)) / box.width : (100 * (clientY - box.top)) / box.height;
  };
  const tell = () => {
    const { left, top } = element.getBoundingClientRect();
    element.setAttribute("aria-orientation", isUpright() ? "vertical" : "horizontal");
    element.setAttribute(
      "aria-valuenow",
      String(Math.round(Math.min(Math.max(shareAt({ clientX: left, clientY: top }), least), most))),
    );
  };
  const place = (share) => {
    const kept = Math.min(Math.max(share, least), most);
    workspace.style.setProperty(property, `${kept}%`);
    element.setAttribute("aria-valuenow", String(Math.round(kept)));
  };
  const keep = () => storage.set(`pane:${property}`, element.getAttribute("aria-valuenow"));
  const stored = Number(storage.get(`pane:${property}`));
  if (stored) workspace.style.setProperty(property, `${stored}%`);

  element.addEventListener("focus", tell); // the share that the style sheet gives depends on the window
  element.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    element.classList.add("dragged");
  });
  element.addEventListener("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) place(shareAt(event));
  });
  const release = () => {
    element.classList.remove("dragged");
    keep();
  };
  element.addEventListener("pointerup", release);
  element.addEventListener("pointercancel", release);
  element.addEventListener("dblclick", () => {
    workspace.style.removeProperty(property);
    storage.remove(`pane:${property}`);
  });
  element.addEventListener("keydown", (event) => {
    const now = Number(element.getAttribute("aria-valuenow"));
    const to = {
      ArrowLeft: now - 2,
      ArrowUp: now - 2,
      ArrowRight: now + 2,
      ArrowDown: now + 2,
      Home: least,
      End: most,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    place(to);
    keep();
  });
}

makeDivider(document.getElementById("divide-columns"), "--reading", workspace);
makeDivider(document.getElementById("divide-rows"), "--editing", document.getElementById("coding"));

// ---- tabs: the links become tabs; a page's main part is fetched when its tab is opened ----

const tabList = document.getElementById("tabs");
const tabs = [...tabList.querySelectorAll(".tab")];
const statement = document.getElementById("statement");
const panels = new Map([
  ["tab-statement", statement],
  ["tab-code", document.getElementById("coding")],
  ["tab-result", document.getElementById("drawer")],
]);
const CODING = ["tab-code", "tab-result"]; // on small screens only; the style sheet shows their panels
tabList.setAttribute("role", "tablist");
tabList.setAttribute("aria-label", "About the challenge");
statement.setAttribute("role", "tabpanel");
statement.setAttribute("aria-labelledby", "tab-statement");

function panelOf(tab) {
  if (!panels.has(tab.id)) {
    const panel = document.createElement("div");
    panel.className = "pane-body";
    panel.id = `panel-${tab.id}`;
    panel.tabIndex = 0;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    statement.after(panel);
    panels.set(tab.id, panel);
  }
  return panels.get(tab.id);
}

async function fill(tab) {
  const panel = panelOf(tab);
  try {
    const answer = await fetch(tab.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    panel.replaceChildren(...page.querySelectorAll("#content > [data-pane]"));
  } catch {
    panel.textContent = "The server cannot be reached. Open the tab again to retry.";
  }
}

function open(tab) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.removeAttribute("aria-current");
    other.tabIndex = chosen ? 0 : -1;
    if (!CODING.includes(other.id) && (chosen || panels.has(other.id))) panelOf(other).hidden = !chosen;
  }
  workspace.dataset.tab = tab.id.slice("tab-".length);
  if (tab.id !== "tab-statement" && !CODING.includes(tab.id)) fill(tab);
}

for (const tab of tabs) {
  tab.setAttribute("role", "tab");
  tab.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return; // a new window shows the whole page
    event.preventDefault();
    open(tab);
  });
  tab.addEventListener("keydown", (event) => {
    const shown = tabs.filter((other) => other.offsetParent !== null);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === " ") {
      event.preventDefault();
      open(tab);
    }
    if (!step) return;
    const next = shown[(shown.indexOf(tab) + step + shown.length) % shown.length];
    open(next);
    next.focus();
  });
}
open(tabs[0]);

const isNarrow = () => getComputedStyle(document.getElementById("tab-code")).display !== "none";

/** Shows the editor, or the result, where only one pane fits. @param {"code" | "result"} name */
export function showPane(name) {
  if (isNarrow()) open(document.getElementById(`tab-${name}`));
}

// On a larger screen the editor has a place of its own, beside the statement.
addEventListener("resize", () => {
  if (CODING.includes(`tab-${workspace.dataset.tab}`) && !isNarrow()) open(tabs[0]);
});

// ---- full screen ----

const fullScreen = document.getElementById("full-screen");
fullScreen.hidden = !document.fullscreenEnabled;
fullScreen.addEventListener("click", () =>
  document.fullscreenElement ? document.exitFullscreen() : workspace.requestFullscreen(),
);
document.addEventListener("fullscreenchange", () => {
  fullScreen.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
});

// ---- menus close when something else is clicked, and by Esc ----

for (const menu of document.querySelectorAll("details.menu")) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}
