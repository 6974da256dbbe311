// Pages with a source and, beside it, what belongs to its lines: reasons, faults, instructions. A line and what belongs to
// it light up together, and a click on one shows the other.

const page = document.querySelector(".beside");
const sourceLine = (line) => document.getElementById(`L${line}`);
const belonging = (line) =>
  [...page.querySelectorAll(`[data-line="${CSS.escape(line)}"]`)].filter((each) => !isSourceLine(each));
const isSourceLine = (element) => element.id.startsWith("L");
let lit = "";

for (const each of page?.querySelectorAll("[data-line]") ?? []) {
  if (!isSourceLine(each)) sourceLine(each.dataset.line)?.classList.add("told");
}

/** The line that an element of the page belongs to; none for a line of the source of which nothing is told. */
function lineOf(element) {
  const found = element.closest("[data-line]");
  return found && (!isSourceLine(found) || found.classList.contains("told")) ? found.dataset.line : "";
}

function light(line) {
  if (line === lit) return;
  for (const element of page.querySelectorAll(".linked")) element.classList.remove("linked");
  lit = line;
  if (line) for (const element of [sourceLine(line), ...belonging(line)]) element?.classList.add("linked");
}

page?.addEventListener("pointerover", (event) => light(lineOf(event.target)));
page?.addEventListener("focusin", (event) => light(lineOf(event.target)));
page?.addEventListener("pointerleave", () => light(""));

page?.addEventListener("click", (event) => {
  const line = lineOf(event.target);
  if (!line || getSelection().toString()) return;
  const clicked = event.target.closest("[data-line]");
  const others = isSourceLine(clicked) ? belonging(line) : [sourceLine(line)];
  if (!others[0]) return;
  event.preventDefault();
  for (const element of page.querySelectorAll(".chosen")) element.classList.remove("chosen");
  for (const element of others) element.classList.add("chosen");
  show(others[0]);
});

/** Shows an element within its pane, and moves the page only where the pane is out of view. */
function show(element) {
  const folded = element.closest("details");
  if (folded) folded.open = true;
  const pane = element.closest(".source");
  if (pane)
    pane.scrollTop += element.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  element.scrollIntoView({ block: "nearest", inline: "nearest" });
}
