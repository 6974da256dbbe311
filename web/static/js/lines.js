// The page of a submission's machine code: lines of the source and their instructions light up together, and a click on
// one shows the other.

const page = document.querySelector(".assembly");
let lit = "";

function light(line) {
  if (line === lit) return;
  for (const element of page.querySelectorAll(".linked")) element.classList.remove("linked");
  lit = line;
  if (!line) return;
  for (const element of page.querySelectorAll(`[data-line="${CSS.escape(line)}"]`)) element.classList.add("linked");
}

page.addEventListener("pointerover", (event) => light(event.target.closest("[data-line]")?.dataset.line ?? ""));
page.addEventListener("focusin", (event) => light(event.target.closest("[data-line]")?.dataset.line ?? ""));
page.addEventListener("pointerleave", () => light(""));

// Scrolls within the panes: the page stays where it is, so that both remain in view.
page.addEventListener("click", (event) => {
  const row = event.target.closest("[data-line]");
  if (!row || getSelection().toString()) return;
  const fromSource = row.id.startsWith("L");
  const other = document.getElementById(`${fromSource ? "A" : "L"}${row.dataset.line}`);
  if (!other) return;
  event.preventDefault();
  const pane = other.closest(".source");
  const offset = other.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  pane.scrollTo({ top: pane.scrollTop + offset - pane.clientHeight / 3, behavior: "smooth" });
});
