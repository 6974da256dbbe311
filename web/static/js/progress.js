// Shows a submission's progress while it is judged, then replaces it by the report.

import { follow } from "./follow.js";

const STEPS = ["queued", "building", "running", "timing"];

/**
 * @param {HTMLElement} element a copy of the page's progress template, or rendered by the server
 * @param {{events: string, report: string, cancel?: string, csrfToken?: string, onReport: (html: string) => void, onGone?: () => void}} options
 *   `events`, `report` and `cancel` are URLs; `onGone` is called if the submission is not there (any more) for this visitor
 */
export function showProgress(element, { events, report, cancel, csrfToken, onReport, onGone }) {
  const part = (name) => element.querySelector(`[data-part="${name}"]`);
  const line = part("line");
  const began = performance.now();
  const clock = setInterval(() => {
    part("clock").textContent = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  }, 100);
  let step = 0;
  let lastText = line.textContent;

  const showText = (text) => {
    lastText = text;
    line.textContent = text;
  };
  const markStep = (name) => {
    step = Math.max(step, STEPS.indexOf(name));
    part("steps")
      .querySelectorAll("li")
      .forEach((item, index) => {
        item.classList.toggle("past", index < step);
        item.classList.toggle("now", index === step);
        if (index === step) item.setAttribute("aria-current", "step");
        else item.removeAttribute("aria-current");
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
      const wait = payload.wait_s >= 2 ? `, about ${Math.round(payload.wait_s)} s` : "";
      showText((payload.position > 1 ? `In the queue, ${payload.position - 1} ahead` : "Next in the queue") + wait);
    } else if (kind === "queued") {
      // Also sent when a worker was lost and the submission went back to the queue: its cases run again.
      part("cases").replaceChildren();
      step = 0;
      markStep("queued");
      showText(payload.reason ? `In the queue again: ${payload.reason}` : "In the queue");
    } else if (kind === "building") {
      markStep("building");
      showText("Building with nvcc");
    } else if (kind === "built") {
      showText(payload.reason ? `Waiting again: ${payload.reason}` : "Built, waiting for the device");
    } else if (kind === "running") {
      part("cases").replaceChildren();
      markStep("running");
      showText("Running the cases");
    } else if (kind === "case") {
      markStep("running");
      addCase(payload);
      showText(`Case ${payload.done} of ${payload.total}`);
    } else if (kind === "timing") {
      markStep("timing");
      showText(payload.done ? `Timing, call ${payload.done}` : "Timing");
    } else if (kind === "done") {
      showText("Judged");
    } else if (kind === "cancelled") {
      showText("Cancelled");
    }
  };

  const onEnd = async () => {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const answer = await fetch(report, { headers: { Accept: "text/html" } });
        if (onGone && [401, 404].includes(answer.status)) {
          clearInterval(clock);
          onGone();
          return;
        }
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
  const onAway = (away) => {
    line.textContent = away ? "The server cannot be reached, trying again" : lastText;
  };

  const cancelButton = part("cancel");
  if (cancel && cancelButton) {
    cancelButton.hidden = false;
    cancelButton.addEventListener("click", async () => {
      cancelButton.disabled = true;
      try {
        await fetch(cancel, { method: "POST", headers: { Accept: "application/json", "X-CSRFToken": csrfToken } });
      } catch {
        cancelButton.disabled = false;
      }
    });
  }

  markStep("queued");
  follow(events, onEvent, onEnd, onAway);
}

/** Replaces `element` by a report (HTML of this site). */
export function putReport(element, html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const report = holder.content.firstElementChild;
  element.replaceWith(holder.content);
  return report;
}
