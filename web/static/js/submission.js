// The page of a submission: live while it is judged, then loaded again for its report and the notes in its source.

import { showProgress } from "./progress.js";

const element = document.getElementById("progress");
if (element) {
  showProgress(element, {
    events: element.dataset.events,
    report: element.dataset.report,
    onReport: () => location.reload(),
  });
}
