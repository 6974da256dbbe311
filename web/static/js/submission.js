// The page of a submission: shows live progress, then reloads to show the report and the notes in the source.

import { showProgress } from "./progress.js";

const element = document.getElementById("progress");
if (element) {
  showProgress(element, {
    events: element.dataset.events,
    report: element.dataset.report,
    onReport: () => location.reload(),
  });
}
