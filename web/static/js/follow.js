// Follows a submission: server-sent events, and polling where they are cut off. Each event is given once, in order.

const SILENT_MS = 4000; // no "hello" by then: something between holds the stream back
const CUT_MS = 35000; // keep-alives come every 10 s
const POLL_MS = 1200;
const OVER = new Set(["done", "cancelled"]);

/**
 * @param {string} url the address of the events
 * @param {(kind: string, payload: object, at: string | undefined) => void} onEvent also gets "position"
 * @param {() => void} onEnd once, when nothing more will come
 * @param {(away: boolean) => void} onAway the server cannot be reached, or can again
 */
export function follow(url, onEvent, onEnd, onAway) {
  let seen = 0;
  let over = false;
  let stream = null;
  let watchdog = 0;

  const end = () => {
    if (over) return;
    over = true;
    clearTimeout(watchdog);
    stream?.close();
    onEnd();
  };
  const take = (event) => {
    if (event.seq <= seen) return;
    seen = event.seq;
    onEvent(event.kind, event.payload, event.at);
  };

  const poll = async () => {
    clearTimeout(watchdog);
    stream?.close();
    while (!over) {
      try {
        const answer = await fetch(`${url}?after=${seen}`, { headers: { Accept: "application/json" } });
        if (answer.status === 404 || answer.status === 401) return end();
        if (answer.ok) {
          onAway(false);
          const events = await answer.json();
          events.forEach(take);
          if (events.some((event) => OVER.has(event.kind))) return end();
        } else {
          onAway(true);
        }
      } catch {
        onAway(true);
      }
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  };

  if (typeof EventSource === "undefined") { poll(); return; }
  const watch = (milliseconds) => { clearTimeout(watchdog); watchdog = setTimeout(poll, milliseconds); };
  stream = new EventSource(url);
  watch(SILENT_MS);
  const heard = () => { onAway(false); watch(CUT_MS); };
  for (const kind of ["queued", "building", "built", "running", "case", "timing", "done", "cancelled"]) {
    stream.addEventListener(kind, (message) => { heard(); take(JSON.parse(message.data)); });
  }
  stream.addEventListener("hello", heard);
  stream.addEventListener("tick", heard);
  stream.addEventListener("position", (message) => { heard(); onEvent("position", JSON.parse(message.data)); });
  stream.addEventListener("end", end);
  // A browser reconnects by itself after a break; after an answer that is no stream (503, 404) it gives up for good.
  stream.addEventListener("error", () => { if (!over && stream.readyState === EventSource.CLOSED) poll(); });
}
