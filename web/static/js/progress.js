// The progress of a submission, shown while the judge works; then its place is taken by the report.

import { follow } from "./follow.js";

const STEPS = ["queued", "building", "running", "timing"];

/** @param {HTMLElement} element made from the page's progress template, or rendered by the server */
export function showProgress(element, { events, report, onReport }) {
  const part = (name) => element.querySelector(`[data-part="${name}"]`);
  const line = part("line");
  const began = performance.now();
  const clock = setInterval(() => { part("clock").textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`; }, 100);
  let step = 0;
  let told = line.textContent;

  const say = (text) => { told = text; line.textContent = text; };
  const reach = (name) => {
    step = Math.max(step, STEPS.indexOf(name));
    part("steps").querySelectorAll("li").forEach((item, index) => {
      item.classList.toggle("past", index < step);
      item.classList.toggle("now", index === step);
      if (index === step) item.setAttribute("aria-current", "step"); else item.removeAttribute("aria-current");
    });
  };
  const addCase = ({ id, verdict }) => {
    const item = document.createElement("li");
    item.className = verdict;
    item.textContent = verdict;
    item.title = id;
    part("cases").append(item);
  };

  const onEvent = (kind, payload) => {
    if (kind === "position") {
      say(payload.position > 1 ? `In the queue, ${payload.position - 1} before it` : "Next in the queue");
    } else if (kind === "queued") {
      // Said again when a worker was lost and the submission went back: its cases will come again.
      part("cases").replaceChildren();
      step = 0;
      reach("queued");
      say(payload.reason ? `In the queue again: ${payload.reason}` : "In the queue");
    } else if (kind === "building") {
      reach("building");
      say("Building with nvcc");
    } else if (kind === "built") {
      say(payload.reason ? `Waiting again: ${payload.reason}` : "Built, waiting for the device");
    } else if (kind === "running") {
      part("cases").replaceChildren();
      reach("running");
      say("Running the cases");
    } else if (kind === "case") {
      reach("running");
      addCase(payload);
      say(`Case ${payload.done} of ${payload.total}`);
    } else if (kind === "timing") {
      reach("timing");
      say(payload.done ? `Timing, call ${payload.done}` : "Timing");
    } else if (kind === "done") {
      say("Judged");
    } else if (kind === "cancelled") {
      say("Cancelled");
    }
  };

  const onEnd = async () => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await fetch(report, { headers: { Accept: "text/html" } });
        if (!answer.ok) throw new Error(answer.status);
        const html = await answer.text();
        clearInterval(clock);
        onReport(html);
        return;
      } catch {
        line.textContent = "Judged; the report cannot be fetched yet, trying again";
        await new Promise((wake) => setTimeout(wake, Math.min(1000 * 2 ** attempt, 15000)));
      }
    }
  };
  const onAway = (away) => { line.textContent = away ? "The server cannot be reached, trying again" : told; };

  reach("queued");
  follow(events, onEvent, onEnd, onAway);
}

/** Put a report (HTML of this site) where `element` is. */
export function putReport(element, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const report = holder.content.firstElementChild;
  element.replaceWith(holder.content);
  return report;
}
