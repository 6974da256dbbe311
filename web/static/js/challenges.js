// The list of challenges: filters show their result at once, the URL holds them, and "/" goes to the search.

const form = document.getElementById("filters");
const list = document.getElementById("list");
const search = document.getElementById("search");
let asked = 0;

async function show() {
  const query = new URLSearchParams([...new FormData(form)].filter(([name, value]) => value && !(name === "sort" && value === "difficulty")));
  const url = query.size ? `${form.action}?${query}` : form.action;
  history.replaceState(null, "", url);
  const mine = (asked += 1);
  try {
    const answer = await fetch(url, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine === asked) list.replaceChildren(...page.getElementById("list").childNodes); // an older answer may come later
  } catch {
    if (mine === asked) list.textContent = "The server could not be reached. Change a filter to try again.";
  }
}

let timer = 0;
form?.addEventListener("input", (event) => {
  clearTimeout(timer);
  timer = setTimeout(show, event.target === search ? 120 : 0);
});
form?.addEventListener("submit", (event) => { event.preventDefault(); show(); });
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea, [contenteditable]")) return;
  event.preventDefault();
  search?.focus();
});
