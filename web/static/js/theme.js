// Runs before the first paint, so that the wrong theme never flashes. data-shade holds the theme in effect.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const show = () => {
    const chosen = stored();
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
    else delete root.dataset.theme;
    root.dataset.shade = chosen ?? (system.matches ? "dark" : "light");
  };
  show();
  system.addEventListener("change", show);
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("theme")?.addEventListener("click", () => {
      try {
        localStorage.setItem("theme", root.dataset.shade === "dark" ? "light" : "dark");
      } catch {
        /* private mode */
      }
      show();
    });
  });
  // "/" goes to the search: that of the page, or that of the head.
  document.addEventListener("keydown", (event) => {
    if (
      event.key !== "/" ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.closest?.("input, select, textarea, [contenteditable]")
    )
      return;
    const search = document.getElementById("search") ?? document.getElementById("find");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
})();
