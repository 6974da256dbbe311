// The page of a submission: shows live progress, then reloads to show the report and the notes in the source. Shows the check
// on the emulator when it is there.

import { showProgress } from "./progress.js";
import { followRecheck } from "./recheck.js";

const element = document.getElementById("progress");
if (element) {
  showProgress(element, {
    events: element.dataset.events,
    report: element.dataset.report,
    onReport: () => location.reload(),
  });
}
followRecheck(document);
