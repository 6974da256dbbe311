// A page that waits for something, or follows it, loads itself again after the seconds that its body's main part says.

const seconds = Number(document.querySelector("[data-reload]")?.dataset.reload);
if (seconds > 0) setTimeout(() => location.reload(), 1000 * seconds);
