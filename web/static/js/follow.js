// Follows a submission by server-sent events, or by polling where streams do not get through. Delivers each event once, in order.

const SILENT_MS = 4000; // without "hello" by then, a proxy is buffering the stream
const CUT_MS = 35000; // the server sends keep-alives every 10 s
const POLL_MS = 1200;
const FINAL_KINDS = new Set(["done", "cancelled"]);

/**
 * @param {string} url the URL of the events
 * @param {(kind: string, payload: object, at: string | undefined) => void} onEvent is also called with "position"
 * @param {() => void} onEnd called once, after the last event
 * @param {(away: boolean) => void} onAway called when the server becomes unreachable or reachable again
 */
export function follow(url, onEvent, onEnd, onAway) {
  let lastSeq = 0;
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
  const deliver = (event) => {
    if (event.seq <= lastSeq) return;
    lastSeq = event.seq;
    onEvent(event.kind, event.payload, event.at);
  };

  const poll = async () => {
    clearTimeout(watchdog);
    stream?.close();
    while (!over) {
      try {
        const answer = await fetch(`${url}?after=${lastSeq}`, { headers: { Accept: "application/json" } });
        if (answer.status === 404 || answer.status === 401) return end();
        if (answer.ok) {
          onAway(false);
          const events = await answer.json();
          events.forEach(deliver);
          if (events.some((event) => FINAL_KINDS.has(event.kind))) return end();
        } else {
          onAway(true);
        }
      } catch {
        onAway(true);
      }
      await new Promise((wake) => setTimeout(wake, POLL_MS));
    }
  };

  if (typeof EventSource === "undefined") {
    poll();
    return;
  }
  const armWatchdog = (milliseconds) => {
    clearTimeout(watchdog);
    watchdog = setTimeout(poll, milliseconds);
  };
  stream = new EventSource(url);
  armWatchdog(SILENT_MS);
  const onActivity = () => {
    onAway(false);
    armWatchdog(CUT_MS);
  };
  for (const kind of ["queued", "building", "built", "running", "case", "timing", "done", "cancelled"]) {
    stream.addEventListener(kind, (message) => {
      onActivity();
      deliver(JSON.parse(message.data));
    });
  }
  stream.addEventListener("hello", onActivity);
  stream.addEventListener("tick", onActivity);
  stream.addEventListener("position", (message) => {
    onActivity();
    onEvent("position", JSON.parse(message.data));
  });
  stream.addEventListener("end", end);
  // A browser reconnects by itself after a break, but gives up for good after an error response (503, 404).
  stream.addEventListener("error", () => {
    if (!over && stream.readyState === EventSource.CLOSED) poll();
  });
}
