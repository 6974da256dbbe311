// The workbench: the editor, the draft, files, Run and Submit, and their results.

import { keepDraft } from "./drafts.js";
import {
  closeDrawer,
  openDrawer,
  openStanding,
  isDrawerOpen,
  showParts,
  showWhole,
  watchMachineCode,
} from "./drawer.js";
import { openEditor } from "./editor.js";
import { showFiles, withOpened } from "./files.js";
import { showPane } from "./panes.js";
import { offerPreferences, readPreferences } from "./preferences.js";
import { storage } from "./storage.js";

const form = document.getElementById("workbench-form");
const textarea = document.getElementById("source");
const box = document.getElementById("editor-box");
const problem = document.getElementById("problem");
const outcome = document.getElementById("outcome");
const device = document.getElementById("device");
const { slug, sourceBytes } = form.dataset;
const buttons = [...document.querySelectorAll("button[name=mode]")];
const language = document.getElementById("language"); // missing where there is but one
const starters = [...document.querySelectorAll("template.starter")];
const template = () => starters.find((each) => each.dataset.language === language?.value) ?? starters[0];
const starter = () => template().content.textContent;
const wantedKey = `wanted:${slug}`;
const runKey = `run:${form.dataset.user ?? ""}:${slug}`;
const profileKey = `profile:${form.dataset.user ?? ""}:${slug}`;

const fileList = document.getElementById("files");
const goToLine = (line) => editor.goTo(line);

let draft = null,
  machineCode = null;
const preferences = readPreferences();
const editor = openEditor(textarea, {
  nonce: document.querySelector("meta[name=style-nonce]").content,
  label: "Source",
  grammar: template().dataset.grammar,
  preferences,
  names: JSON.parse(form.dataset.names),
  onChange: (source) => {
    draft?.changed(source);
    machineCode?.changed();
    showFiles(fileList, source, goToLine, template().dataset.file);
  },
  onRun: () => clickButton("run"),
  onSubmit: () => clickButton("submit"),
});
draft = keepDraft(editor, starter, () => language?.value ?? starters[0].dataset.language);
showFiles(fileList, editor.value(), goToLine, template().dataset.file);

// Each language has a draft of its own.
let written = language?.value;
language?.addEventListener("change", async () => {
  const chosen = language.value;
  language.value = written; // what is being left is saved in its own language
  const kept = await draft.leave(chosen);
  language.value = written = chosen;
  editor.setGrammar(template().dataset.grammar);
  editor.replace(kept ?? starter());
  showFiles(fileList, editor.value(), goToLine, template().dataset.file);
  editor.focus();
});
offerPreferences(editor, preferences);

const chosen = storage.get("device");
if (chosen && [...(device?.options ?? [])].some((option) => option.value === chosen)) device.value = chosen;
device?.addEventListener("change", () => storage.set("device", device.value));

document.getElementById("reset").addEventListener("click", () => {
  if (editor.value() === starter() || confirm("Replace what is in the editor with the starter?")) {
    draft.replacing();
    editor.replace(starter());
    editor.focus();
  }
});

// ---- files: chosen, or dropped on the editor ----

const fileInput = document.getElementById("file");
async function open(files) {
  showProblem("");
  const opened = [];
  for (const file of files) {
    if (file.size > Number(sourceBytes)) {
      showProblem(
        `${file.name} has ${file.size.toLocaleString()} bytes; a source may have ${Number(sourceBytes).toLocaleString()}.`,
      );
      return;
    }
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()).replaceAll("\r\n", "\n");
      opened.push({ name: file.name, text });
    } catch {
      showProblem(`${file.name} is not UTF-8 text.`);
      return;
    }
  }
  draft.replacing();
  editor.replace(withOpened(editor.value(), opened));
  editor.focus();
}
document.getElementById("open").addEventListener("click", () => fileInput.click());
fileInput.addEventListener("change", async () => {
  if (fileInput.files.length) await open(fileInput.files);
  fileInput.value = ""; // the editor holds its text now, so the form must not send the file as well
});
let dragDepth = 0;
box.addEventListener("dragenter", (event) => {
  if (event.dataTransfer.types.includes("Files")) {
    dragDepth += 1;
    box.classList.add("dropping");
  }
});
box.addEventListener("dragleave", () => {
  dragDepth = Math.max(dragDepth - 1, 0);
  if (!dragDepth) box.classList.remove("dropping");
});
box.addEventListener("dragover", (event) => {
  if (event.dataTransfer.types.includes("Files")) event.preventDefault();
});
box.addEventListener(
  "drop",
  (event) => {
    dragDepth = 0;
    box.classList.remove("dropping");
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    event.stopPropagation();
    open(event.dataTransfer.files);
  },
  true,
);

// ---- an input of one's own ----

const custom = document.getElementById("custom-body");
document.getElementById("own-input").append(custom);
document.getElementById("custom-input").remove();
const inputFields = [...custom.querySelectorAll("[name^='input.']")];
const inputKey = `input:${form.dataset.user ?? ""}:${slug}`;

function customInput() {
  if (form.elements.on.value !== "custom") return null;
  return inputFields.map((field) => [field.name, field.value]);
}

function showWrong(field, text) {
  const note = document.getElementById(field.getAttribute("aria-describedby"));
  note.textContent = text;
  note.hidden = !text;
  field.setAttribute("aria-invalid", String(Boolean(text)));
}

/** Shows what is wrong at the fields of the input. Returns whether any of them is meant. */
function showWrongFields(fields) {
  const wrong = inputFields.filter((field) => fields?.[field.name]);
  for (const field of wrong) showWrong(field, fields[field.name]);
  if (wrong.length) {
    openStanding("input");
    wrong[0].focus();
    document.getElementById(wrong[0].getAttribute("aria-describedby")).scrollIntoView({ block: "nearest" });
  }
  return wrong.length > 0;
}

function showChoice() {
  document.getElementById("runs-on").textContent = form.elements.on.value === "custom" ? "Run own input" : "Run";
  storage.set(
    inputKey,
    JSON.stringify({ on: form.elements.on.value, fields: inputFields.map((field) => field.value) }),
  );
}
for (const field of inputFields) {
  field.addEventListener("input", () => {
    form.elements.on.value = "custom";
    showWrong(field, "");
    showChoice();
  });
}
for (const choice of custom.querySelectorAll("[name=on]")) choice.addEventListener("change", showChoice);
try {
  const { on, fields } = JSON.parse(storage.get(inputKey) ?? "{}");
  fields?.forEach((text, number) => {
    if (inputFields[number]) inputFields[number].value = text;
  });
  if (on) form.elements.on.value = on;
} catch {
  /* what another release kept */
}
showChoice();

// ---- run and submit ----

function showProblem(text) {
  problem.textContent = text;
  problem.hidden = !text;
}

function clickButton(mode) {
  const button = buttons.find((candidate) => candidate.value === mode);
  if (button && !button.disabled) form.requestSubmit(button);
}

// A retry after a broken connection reuses the key, so that the server creates one submission.
let attempt = null;
function keyFor(mode) {
  const content = JSON.stringify([mode, device.value, language?.value, editor.value(), customInput()]);
  if (attempt?.content !== content)
    attempt = { content, key: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` };
  return attempt.key;
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const mode = event.submitter?.value ?? "submit";
  if (form.dataset.logIn) {
    storage.set(wantedKey, mode);
    location.href = form.dataset.logIn;
    return;
  }
  showProblem("");
  for (const field of inputFields) showWrong(field, "");
  if (!editor.value().trim()) {
    showProblem("There is nothing in the editor yet.");
    return;
  }
  if (new TextEncoder().encode(editor.value()).length > Number(sourceBytes)) {
    showProblem(`The source is larger than ${Number(sourceBytes).toLocaleString()} bytes.`);
    return;
  }
  const body = new FormData(form, event.submitter);
  body.delete("file");
  body.set("source", editor.value());
  body.set("idempotency_key", keyFor(mode));
  for (const button of buttons) button.disabled = true;
  const takeBack = showSending();
  try {
    const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
    const result = await answer.json();
    if (!answer.ok) {
      const { detail, nearest, fields } = result;
      takeBack();
      if (answer.status === 401) {
        location.reload();
        return;
      }
      if (showWrongFields(fields)) {
        enableButtons();
        return;
      }
      showProblem(nearest.length ? `${detail} Nearest: ${nearest.join(", ")}.` : detail);
      enableButtons();
      return;
    }
    attempt = null;
    const source = editor.value();
    storage.set(runKey, JSON.stringify({ result, source }));
    showResult(result, source);
  } catch {
    takeBack();
    showProblem("The server cannot be reached. Your source is kept here; please try again.");
    enableButtons();
  }
});
addEventListener("pageshow", (event) => {
  if (event.persisted) enableButtons();
});

function enableButtons() {
  for (const button of buttons) button.disabled = false;
}

// ---- results: in the drawer, and at the editor's lines ----

document.getElementById("close-drawer").addEventListener("click", () => {
  closeDrawer();
  storage.remove(runKey);
  editor.focus();
});

function newProgress() {
  return document.getElementById("progress-template").content.firstElementChild.cloneNode(true);
}

/** Shows at once that the kernel is on its way. Returns what brings back the earlier result, if it was not taken. */
function showSending() {
  const before = [...outcome.childNodes, ...document.querySelectorAll(".verdict-bar")];
  const wasOpen = isDrawerOpen();
  const progress = newProgress();
  progress.querySelector('[data-part="line"]').textContent = "Sending";
  showWhole([progress]);
  openDrawer();
  showPane("result");
  return () => {
    showWhole(before);
    const report = outcome.querySelector(".report");
    if (report) {
      report.prepend(...outcome.querySelectorAll(".verdict-bar"));
      showParts(report);
    }
    if (!wasOpen) closeDrawer();
    else showPane("code");
  };
}

async function showResult(result, source) {
  const progress = newProgress();
  openDrawer();
  showPane("result");
  showWhole([progress]);
  editor.showNotes([]);
  editor.showHeat([]);
  const { putReport, showProgress } = await import("./progress.js");
  showProgress(progress, {
    ...result,
    csrfToken: form.elements.csrf_token.value,
    onReport: (html) => {
      const report = putReport(progress, html);
      showParts(report);
      markGoal(report);
      import("./recheck.js").then(({ followRecheck }) => followRecheck(outcome));
      // Lines that were edited meanwhile are no longer those that were judged.
      if (editor.value() === source) {
        editor.showNotes(JSON.parse(report.dataset.notes));
        editor.showHeat(JSON.parse(report.dataset.heat));
      }
      const difference = document.getElementById("difference");
      if (difference) showDifference(difference, result.report);
      enableButtons();
    },
    onGone: () => {
      storage.remove(runKey);
      closeDrawer();
      enableButtons();
    },
  });
}

/** Marks the goal of the page's track as reached, if this report says so. */
function markGoal(report) {
  const bar = document.querySelector(".track-bar");
  const goal = report.querySelector(".track-goal");
  const isSameTrack = bar && goal && bar.querySelector("a").href === goal.querySelector(".small a").href;
  const reached = isSameTrack && goal.querySelector(".verdict.AC");
  if (reached) bar.querySelector("[data-part=not-reached]")?.replaceWith(reached.cloneNode(true));
}

/** Says what changed since the last run, in the part of the report that has this run's profile. */
async function showDifference(element, id) {
  const { compareWithLast } = await import("./difference.js");
  const found = compareWithLast(profileKey, id, JSON.parse(element.dataset.profile));
  if (!found) return;
  const time = document.createElement("b");
  time.className = found.kind === "better" ? "improved" : "";
  time.textContent = found.time;
  element.replaceChildren(time, ...found.lines.map((line) => `, ${line}`));
  element.hidden = false;
  for (const sentence of document.querySelectorAll("#verdict-line [data-part=sentence]")) sentence.hidden = true;
}

watchMachineCode(async (isOpen) => {
  const panel = document.getElementById("machine-code");
  if (!machineCode && isOpen) {
    const { showMachineCode } = await import("./machine_code.js");
    machineCode ??= showMachineCode(panel, {
      url: panel.dataset.url,
      csrfToken: form.elements.csrf_token.value,
      language: () => language?.value,
      editor,
    });
  }
  if (panel && panel.hidden === isOpen) return; // it was closed meanwhile
  if (isOpen) machineCode.open();
  else machineCode?.close();
});

document.getElementById("drawer").addEventListener("click", (event) => {
  const link = event.target.closest("[data-line]");
  if (!link) return;
  event.preventDefault();
  showPane("code");
  editor.goTo(Number(link.dataset.line));
});

// A run goes on where the page was left: its links and its source are kept until the drawer is closed. The editor may also
// have been opened with the source of a submission, whose result it then shows.
const judged = form.dataset.judged;
const unfinished = judged
  ? JSON.stringify({ result: JSON.parse(judged), source: editor.value() })
  : storage.get(runKey);
const wanted = form.dataset.user ? storage.get(wantedKey) : null;
if (wanted) {
  // Somebody wanted to run it, and has signed in for that.
  storage.remove(wantedKey);
  clickButton(wanted);
} else if (unfinished) {
  try {
    const { result, source } = JSON.parse(unfinished);
    showResult(result, source);
  } catch {
    storage.remove(runKey);
  }
}

performance.mark("workbench-ready"); // what comes later is not needed for the first key
requestAnimationFrame(() =>
  setTimeout(() => {
    editor.enrich().catch(() => {}); // without it the text area goes on
    import("./progress.js").catch(() => {}); // a run asks for it again
  }),
);
