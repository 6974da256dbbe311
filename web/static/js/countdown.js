// Shows how long each thing with an end lasts: seconds from when the page came, so a wrong clock here does not matter.

const begun = performance.now();

function left(seconds) {
  if (seconds <= 0) return "It has ended.";
  const [days, hours, minutes] = [
    Math.floor(seconds / 86400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  const clock = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, "0")).join(":");
  return `${days ? `${days} d ` : ""}${clock} left.`;
}

function show() {
  const passed = Math.floor((performance.now() - begun) / 1000);
  for (const each of document.querySelectorAll("[data-countdown]")) {
    each.textContent = left(Number(each.dataset.countdown) - passed);
  }
}

show();
setInterval(show, 1000);
