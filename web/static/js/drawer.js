// The drawer beneath the editor: one line with the verdict, and tabs for the parts of a result, for an input of one's own and
// for the machine code.

import { showPane } from "./panes.js";

const drawer = document.getElementById("drawer");
const outcome = document.getElementById("outcome");
// The tabs that are there without a result, and their panels. Visitors have no machine code.
const standing = new Map([
  ["input", document.getElementById("own-input")],
  ["machine", document.getElementById("machine-code")],
]);
const verdictLine = document.getElementById("verdict-line");
const parts = [drawer, document.getElementById("divide-rows"), document.getElementById("tab-result")];
const tabs = [...document.querySelectorAll("#drawer-tabs [data-shows]")];
let shown = "",
  chosen = ""; // the tab that is open, and the one that was opened by hand last
let onMachineCode = () => {};

/** Calls `listener` with true when the machine code is opened, and with false when it is closed. */
export function watchMachineCode(listener) {
  onMachineCode = listener;
}

export const isDrawerOpen = () => !drawer.hidden;

export function openDrawer() {
  for (const part of parts) part.hidden = false;
}

export function closeDrawer() {
  showPane("code");
  showTab("");
  for (const part of parts) part.hidden = true;
}

/** Shows `content` alone, which has no parts yet: the progress. */
export function showWhole(content) {
  verdictLine.replaceChildren();
  outcome.replaceChildren(...content);
  for (const tab of tabs) tab.hidden = !standing.has(tab.dataset.shows);
  showTab("whole");
}

/** Takes the verdict out of a report that stands in the drawer, and shows the tab that matters. */
export function showParts(report) {
  const verdict = report.querySelector(".verdict-bar");
  verdictLine.replaceChildren(...(verdict ? [verdict] : []));
  const there = new Set([...report.querySelectorAll("[data-tab]")].map((part) => part.dataset.tab));
  for (const tab of tabs) tab.hidden = !standing.has(tab.dataset.shows) && !there.has(tab.dataset.shows);
  const cases = tabs.find((tab) => tab.dataset.shows === "cases");
  cases.textContent = report.dataset.custom ? "Case" : "Cases";
  const wanted = tabs.find((tab) => !tab.hidden && tab.dataset.shows === chosen);
  showTab(wanted && !report.dataset.failed ? chosen : report.dataset.first);
  outcome.scrollTop = 0;
}

export function showTab(name) {
  const turned = (shown === "machine") !== (name === "machine");
  shown = name;
  for (const tab of tabs) {
    const isShown = tab.dataset.shows === name;
    tab.setAttribute("aria-selected", String(isShown));
    tab.tabIndex = isShown || (name === "whole" && standing.has(tab.dataset.shows)) ? 0 : -1;
  }
  outcome.hidden = standing.has(name);
  for (const [each, panel] of standing) if (panel) panel.hidden = each !== name;
  for (const part of outcome.querySelectorAll(".report > [data-tab]"))
    part.hidden = name !== "whole" && part.dataset.tab !== name;
  if (turned) onMachineCode(name === "machine");
}

for (const tab of tabs) {
  tab.addEventListener("click", () => {
    showTab(tab.dataset.shows);
    if (shown !== "input") chosen = shown; // a run on an input is followed by its result
  });
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const seen = tabs.filter((other) => !other.hidden);
    const next = seen[(seen.indexOf(tab) + step + seen.length) % seen.length];
    next.click();
    next.focus();
  });
}

/** Opens the drawer with one of the tabs that are there without a result. */
export function openStanding(name) {
  if (drawer.hidden) showWhole([]);
  openDrawer();
  showPane("result");
  tabs.find((tab) => tab.dataset.shows === name).click();
}

document.getElementById("open-machine-code")?.addEventListener("click", () => openStanding("machine"));
document.getElementById("open-own-input").addEventListener("click", () => openStanding("input"));
