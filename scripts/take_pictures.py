"""Takes the pictures of docs/images in Chromium, on a gpujudge of its own.

    .venv/bin/python scripts/take_pictures.py
    .venv/bin/python scripts/take_pictures.py --into /tmp/looks --widths 390 1440 2560

Starts everything with an empty data folder, sends our own kernels for one challenge as several users, and runs two
wrong ones in the workspace. With ``--widths`` each picture is taken at each width, to be looked at side by side.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from playwright.sync_api import FloatRect, Page, sync_playwright  # noqa: E402

from benchmarks.stack import Stack, running_stack  # noqa: E402
from emulator.cxx import SHARED_FOLDER  # noqa: E402

TIMED = "dot-product"
#: From the first idea to a fast one. The first ones are sent by others too, so that there is a distribution.
STEPS = ("1-atomic-per-pair", "../plain", "3-shuffles", "4-many-pairs-a-thread", "../tuned")
OTHERS = ("barbara", "edsger", "grace", "john", "katherine")
STRAY = """#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
"""
UNFINISHED = STRAY.replace("    C[i] =", "    if (i < N - 2) C[i] =")
JUDGED_WITHIN_S = 300.0
#: What the tests have compiled is not compiled again.
LIBRARIES = str(ROOT / ".cache" / "libraries")


def send_kernels(stack: Stack, page: Page) -> str:
    """Sends the steps, each by another user and all by the page's user. Returns the address of the last one."""
    folder = ROOT / "reference_solutions" / TIMED / "ladder"
    sources = [(folder / f"{step}.cu").read_text("utf-8") for step in STEPS]
    for name, source in zip(OTHERS, sources, strict=True):
        sign_up(page, stack.address, name)
        submit(page, stack.address, source)
        page.context.clear_cookies()
    sign_up(page, stack.address, "ada")
    for source in sources:
        last = submit(page, stack.address, source)
    return last


def sign_up(page: Page, address: str, username: str) -> None:
    """Signs a new user up."""
    page.goto(f"{address}/account/sign-up")
    page.fill("[name=username]", username)
    page.fill("[name=password]", f"the secret of {username}, 1945")
    page.click("main button[type=submit]")
    page.wait_for_load_state()


def submit(page: Page, address: str, source: str) -> str:
    """Submits a source as a form would, and waits for the verdict. Returns the address of the submission's page."""
    page.goto(f"{address}/challenges/{TIMED}")
    form = {
        "csrf_token": page.input_value("#workbench-form [name=csrf_token]"),
        "source": source,
        "device": "emulator",
        "mode": "submit",
    }
    sent = page.request.post(f"{address}/challenges/{TIMED}/submissions", form=form)
    until = time.monotonic() + JUDGED_WITHIN_S
    while page.request.get(sent.url, headers={"Accept": "text/html"}).text().count('id="progress"'):
        if time.monotonic() > until:
            raise TimeoutError(f"{sent.url} is not judged")
        time.sleep(0.5)
    return sent.url


def run(page: Page, address: str, source: str, fields: dict[str, str]) -> None:
    """Writes a source into the workspace of vector-add and runs it, on an input of one's own if there are fields."""
    page.goto(f"{address}/challenges/vector-add")
    page.click("#tab-code") if page.is_visible("#tab-code") else None
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)
    if fields:
        page.click("#open-own-input")
        for name, text in fields.items():
            page.fill(f"[name='input.{name}']", text)
    page.click("button[value=run]:visible")
    page.wait_for_selector("#outcome .report", timeout=1000 * JUDGED_WITHIN_S)
    page.wait_for_timeout(500)


def take(page: Page, stack: Stack, submission: str, most_px: int) -> Iterator[tuple[str, bytes]]:
    """Yields each picture by its name. That of a submission has a limited height in pixels."""
    page.goto(submission)
    page.wait_for_timeout(300)
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    part: FloatRect = {"x": 0, "y": 0, "width": width, "height": min(height, most_px)}
    yield "submission", page.screenshot(full_page=True, clip=part)
    for name, path in (("board", f"/leaderboards/{TIMED}"), ("submissions", f"/submissions?challenge={TIMED}")):
        page.goto(stack.address + path)
        yield name, page.screenshot()
    run(page, stack.address, STRAY, {})
    yield "challenge", page.screenshot()
    run(page, stack.address, UNFINISHED, {"N": "8", "A": "1 2 3 4 5 6 7 8", "B": "10 20 30 40 50 60 70 80"})
    yield "own-input", page.screenshot()


#: What the documents show, and how much of a long page.
SHOWN_PX = 1290
SHOWN = ("challenge", "own-input", "submission")


def main(arguments: Sequence[str] | None = None) -> None:
    """Takes the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", type=Path, default=ROOT / "docs" / "images", help="the folder (default docs/images)")
    parser.add_argument("--widths", type=int, nargs="+", help="take all pages at these widths; names end with it")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser's program")
    given = parser.parse_args(arguments)
    given.into.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data_dir,
        running_stack(Path(data_dir), "--device", "emulator", env={SHARED_FOLDER: LIBRARIES}) as stack,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        submission = send_kernels(stack, page)
        for width in given.widths or [1440]:
            page.set_viewport_size({"width": width, "height": 844 if width < 600 else 1440 if width > 2000 else 900})
            for name, picture in take(page, stack, submission, 10_000 if given.widths else SHOWN_PX):
                if given.widths:
                    (given.into / f"{name}-{width}.png").write_bytes(picture)
                elif name in SHOWN:
                    (given.into / f"{name}.png").write_bytes(picture)
        browser.close()


if __name__ == "__main__":
    main()
