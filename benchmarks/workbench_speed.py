"""Measures the workbench in a browser: when it is ready on a slow processor, and from the keys of Run to the verdict.

    python benchmarks/workbench_speed.py http://127.0.0.1:8000

Needs a server with the emulator (``gpujudge up``) that lets people sign up, and Chromium. It signs up a new user.
Ready is when the editor takes the keyboard's input and the page's script has run, which it marks, counted from the
start of the navigation, in a fresh browser with the processor slowed down fourfold. A Run is counted from Ctrl and
Enter to the verdict on the page, with the build cached, and to the page's first sign that something happens. Prints
the medians.
"""

from __future__ import annotations

import argparse
import secrets
import statistics
from collections.abc import Sequence

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


def measure_ready(browser: Browser, page_url: str, times: int) -> list[float]:
    """Returns how many milliseconds each of so many fresh browsers took until the editor was ready."""
    found = []
    for _ in range(times):
        context = browser.new_context()
        page = context.new_page()
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.goto(page_url)  # asking the page before it is loaded would slow it down
        found.append(float(page.evaluate("performance.getEntriesByName('workbench-ready')[0].startTime")))
        context.close()
    return found


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
    parser.add_argument("--times", type=int, default=20, help="runs (default 20)")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser's program")
    given = parser.parse_args(arguments)
    server = given.server.rstrip("/")
    page_url = f"{server}/challenges/vector-add"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        ready = measure_ready(browser, page_url, 5)
        page = browser.new_page(bypass_csp=True)
        sign_up(page, server)
        first, verdict = measure_runs(page, page_url, given.times)
        browser.close()
    print(f"ready, processor slowed down 4x, cold: median {statistics.median(ready):.0f} ms of {len(ready)}")
    print(f"keys to first sign: median {statistics.median(first):.0f} ms of {len(first)}")
    print(
        f"keys to verdict: median {statistics.median(verdict):.0f} ms of {len(verdict)}, largest {max(verdict):.0f} ms"
    )


if __name__ == "__main__":
    main()
