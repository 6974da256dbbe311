// The list of challenges: filters show their result at once, the URL holds them, and Enter in the search opens the first.

const form = document.getElementById("filters");
const list = document.getElementById("list");
const search = document.getElementById("search");
let asked = 0;

async function show() {
  const query = new URLSearchParams(
    [...new FormData(form)].filter(([name, value]) => value && !(name === "sort" && value === "track")),
  );
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
form?.addEventListener("submit", async (event) => {
  event.preventDefault();
  clearTimeout(timer);
  await show();
  if (search.value.trim()) list.querySelector("a.title")?.click();
});
