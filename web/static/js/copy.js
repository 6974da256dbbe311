// Buttons that copy a text of the page: data-copy holds the id of its element. Without scripts they stay hidden.

for (const button of document.querySelectorAll("button[data-copy]")) {
  const text = document.getElementById(button.dataset.copy);
  if (!text || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(text);
      button.textContent = "Press Ctrl+C";
    }
  });
}
