// What changed since the last run of the same challenge in this browser: its time, and how its lines access memory.

import { storage } from "./storage.js";

const SHOWN_LINES = 3;
const LEAST_CHANGE = 0.005; // a smaller change of the time is shown as none

/**
 * Compares a profile (web/submissions/run_profile.py) with that of the run before it, and keeps it for the next one.
 * @param {string} key where the profiles of this challenge are kept
 * @param {string} id the run's own name: a run that is shown again is compared with the same one as before
 * @returns {{time: string, kind: "better"|"worse"|"same", lines: string[]}|null} null for the first run
 */
export function compareWithLast(key, id, profile) {
  let kept = null;
  try {
    kept = JSON.parse(storage.get(key) ?? "null");
  } catch {
    /* what another release kept */
  }
  const before = kept?.id === id ? kept.before : kept?.profile;
  storage.set(key, JSON.stringify({ id, profile, before }));
  if (!before || before.scale !== profile.scale || before.case !== profile.case) return null;
  const change = profile.seconds / before.seconds - 1;
  const isMeasured = profile.low < profile.high;
  const isSame = isMeasured
    ? profile.low <= before.high && before.low <= profile.high
    : Math.abs(change) < LEAST_CHANGE;
  const kind = isSame ? "same" : change < 0 ? "better" : "worse";
  const percent = Math.abs(100 * change).toFixed(Math.abs(change) < 0.1 ? 1 : 0);
  const same = isMeasured ? "no measurable difference from the last run" : "the same time as the last run";
  const time = isSame ? same : `${percent} % ${change < 0 ? "less" : "more"} time than the last run`;
  return { time, kind, lines: changedLines(before.lines, profile.lines) };
}

/** Returns sentences on the lines whose accesses differ. A line is the same if its text is, or else its number. */
function changedLines(before, now) {
  const left = [...before];
  const take = (fits) => {
    const at = left.findIndex(fits);
    return at < 0 ? null : left.splice(at, 1)[0];
  };
  const pairs = now.map((line) => [line, take((other) => other.text === line.text)]);
  for (const pair of pairs) pair[1] ??= take((other) => other.line === pair[0].line);
  const found = [];
  for (const [line, earlier] of pairs) {
    if (!earlier) continue;
    const parts = [
      differing(earlier.sectors, line.sectors, "sectors a request"),
      differing(earlier.wavefronts, line.wavefronts, "times the fewest wavefronts"),
    ].filter(Boolean);
    if (parts.length) found.push(`${line.name}: ${parts.join(", ")}`);
  }
  return found.slice(0, SHOWN_LINES);
}

function differing(before, now, what) {
  if (before === null || now === null || before.toFixed(1) === now.toFixed(1)) return "";
  return `${before.toFixed(1)} → ${now.toFixed(1)} ${what}`;
}
