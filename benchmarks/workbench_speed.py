"""Measures the workbench in a browser: when it is ready on a slow processor, and from the keys of Run to the verdict.

    python benchmarks/workbench_speed.py http://127.0.0.1:8000

Needs a server with the emulator (``gpujudge up``) that lets people sign up, and Chromium. It signs up a new user.
The page marks two moments. It is ready when its text area takes keys and its script, which keeps the draft, runs and
submits, has run; a moment later CodeMirror takes the text area's place. Both are counted from the start of the
navigation, in a fresh browser with the processor slowed down fourfold. The processor time of the page's main thread
until it is ready is given, too: it hardly depends on what else the machine does. A Run is counted from Ctrl and Enter
to the verdict on the page, with the build cached, and to the page's first sign that something happens. Prints the
medians.
"""

from __future__ import annotations

import argparse
import json
import secrets
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

KERNEL = """#include "solve.h"
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
"""
#: Counts from the keys to the drawer, which shows the progress, and to the report in it.
WATCH = """() => {
  const times = { first: 0, verdict: 0 };
  const outcome = document.getElementById("outcome");
  let begun = 0;
  const onKey = (event) => { if (event.key === "Enter" && event.ctrlKey) begun = event.timeStamp; };
  addEventListener("keydown", onKey, true);
  new MutationObserver(() => {
    if (!times.first) times.first = performance.now() - begun;
    if (!times.verdict && outcome.querySelector(".report")) times.verdict = performance.now() - begun;
  }).observe(outcome, { childList: true, subtree: true, characterData: true });
  window.runTimes = times;
}"""


@dataclass(frozen=True)
class Opening:
    """A first opening of a page: when it was ready and had its editor, and the processor time until it was ready."""

    ready_ms: float
    editor_ms: float
    cpu_ms: float


def measure_openings(browser: Browser, page_url: str, times: int) -> list[Opening]:
    """Opens the page ``times`` times, each time with an empty cache."""
    found = []
    for _ in range(times):
        context = browser.new_context(bypass_csp=True)  # for the wait below
        page = context.new_page()
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        browser.start_tracing(page=page, categories=["devtools.timeline", "blink.user_timing", "toplevel"])
        page.goto(page_url)  # asking the page before it is loaded would slow it down
        page.wait_for_function("performance.getEntriesByName('editor-ready').length", polling=200)
        ready, editor = (
            float(page.evaluate("name => performance.getEntriesByName(name)[0].startTime", name))
            for name in ("workbench-ready", "editor-ready")
        )
        found.append(Opening(ready, editor, cpu_until(json.loads(browser.stop_tracing()), "workbench-ready", ready)))
        context.close()
    return found


def cpu_until(trace: dict[str, Any], mark: str, after_ms: float) -> float:
    """Returns the processor time (ms) of a page's main thread in the milliseconds before it set a mark."""
    events = trace["traceEvents"]
    (end,) = (event for event in events if event["name"] == mark)
    mine = [event for event in events if (event["pid"], event["tid"]) == (end["pid"], end["tid"]) and "tts" in event]
    begin = min(event["tts"] for event in mine if event["ts"] >= end["ts"] - 1000 * after_ms)
    return float(end["tts"] - begin) / 1000


def measure_runs(page: Page, page_url: str, times: int) -> tuple[list[float], list[float]]:
    """Returns the milliseconds to the first sign and to the verdict of each run; one more run fills the cache."""
    first, verdict = [], []
    for number in range(times + 1):
        page.goto(page_url)
        page.wait_for_selector(".cm-content")
        if number == 0:
            page.click(".cm-content")
            page.keyboard.press("Control+a")
            page.keyboard.insert_text(KERNEL)
        page.evaluate(WATCH)
        page.click(".cm-content")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("window.runTimes.verdict > 0", timeout=120_000, polling=50)
        if number:
            measured = page.evaluate("window.runTimes")
            first.append(float(measured["first"]))
            verdict.append(float(measured["verdict"]))
        page.click("#close-drawer")
    return first, verdict


def sign_up(page: Page, server: str) -> None:
    """Makes a user whose name is new."""
    page.goto(f"{server}/account/sign-up")
    page.fill("[name=username]", f"speed-{secrets.token_hex(4)}")
    page.fill("[name=password]", secrets.token_urlsafe(16))
    page.click("main button[type=submit]")
    page.wait_for_load_state()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("server")
    parser.add_argument("--times", type=int, default=20, help="runs (default 20; 0 measures none)")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser's program")
    given = parser.parse_args(arguments)
    server = given.server.rstrip("/")
    page_url = f"{server}/challenges/vector-add"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        openings = measure_openings(browser, page_url, 5)
        page = browser.new_page(bypass_csp=True)
        first: list[float] = []
        verdict: list[float] = []
        if given.times:
            sign_up(page, server)
            first, verdict = measure_runs(page, page_url, given.times)
        browser.close()
    ready, editor, cpu = zip(*((each.ready_ms, each.editor_ms, each.cpu_ms) for each in openings), strict=True)
    print(f"processor slowed down 4x, cold, medians of {len(openings)}:")
    print(
        f"ready: {statistics.median(ready):.0f} ms, {statistics.median(cpu):.0f} ms of them the main thread's CPU time"
    )
    print(f"with its editor: {statistics.median(editor):.0f} ms")
    if not verdict:
        return
    print(f"keys to first sign: median {statistics.median(first):.0f} ms of {len(first)}")
    print(
        f"keys to verdict: median {statistics.median(verdict):.0f} ms of {len(verdict)}, largest {max(verdict):.0f} ms"
    )


if __name__ == "__main__":
    main()
