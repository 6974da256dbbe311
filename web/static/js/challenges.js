// Filters the list of challenges by words and by difficulty.

const search = document.getElementById("search");
const chips = [...document.querySelectorAll("[data-difficulty-chip]")];
const items = [...document.querySelectorAll("[data-challenge]")];
const none = document.getElementById("none-found");
let difficulty = "";

function narrow() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of items) {
    const fits = (!difficulty || item.dataset.difficulty === difficulty)
      && words.every((word) => item.dataset.challenge.includes(word));
    item.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  none.hidden = shown > 0;
}

search?.addEventListener("input", narrow);
for (const chip of chips) {
  chip.addEventListener("click", () => {
    difficulty = chip.dataset.difficultyChip;
    for (const other of chips) other.setAttribute("aria-pressed", String(other === chip));
    narrow();
  });
}
