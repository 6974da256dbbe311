// Waits for the check on the emulator of an accepted submission, and puts what came of it in its place.

const POLL_MS = 2000;
const MOST_POLLS = 150; // after that, a reload of the page shows it

/** @param {ParentNode} root what may contain the section of a check that is still to be made */
export async function followRecheck(root) {
  const section = root.querySelector("[data-recheck]");
  if (!section) return;
  for (let polls = 0; polls < MOST_POLLS && section.isConnected; polls += 1) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    const html = await fetch(section.dataset.recheck).then(
      (answer) => (answer.ok ? answer.text() : ""),
      () => "",
    );
    const fresh = document.createRange().createContextualFragment(html).querySelector("section");
    if (fresh && !fresh.dataset.recheck) {
      fresh.hidden = section.hidden; // its tab may not be open
      return section.replaceWith(fresh);
    }
  }
}
