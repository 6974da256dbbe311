"""Five journeys of people on a whole installation: everything they run is built and judged for real."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from benchmarks.stack import Stack
from tests.builds import ROOT
from tests.web_site import PASSWORD

pytestmark = [
    pytest.mark.browser,
    pytest.mark.nvcc,
    pytest.mark.jail,
    # Of what they need, test_stack.py has a person whose kernel is judged.
    pytest.mark.exhaustive(by_file=True, costly=True),
    pytest.mark.xdist_group("stack in a browser"),
]

LESSON = (ROOT / "tracks/first-kernels/vector-add.cu").read_text()
COALESCED = LESSON.replace("threadIdx.x * gridDim.x + blockIdx.x", "blockIdx.x * blockDim.x + threadIdx.x")
TUNED = (ROOT / "reference_solutions/vector-add/tuned.cu").read_text()
JUDGED_WITHIN_MS = 120_000


def _sign_up(page: Page, username: str) -> None:
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()


def _write(page: Page, source: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(source)


def _verdict(page: Page, button: str, title: str) -> None:
    """Presses Run or Submit, and waits for the verdict of that submission."""
    with page.expect_response(lambda answer: answer.url.endswith("/submissions") and answer.ok):
        page.get_by_role("button", name=button).click()
    expect(page.get_by_role("region", name="Verdict").get_by_role("heading", name=title)).to_be_visible(
        timeout=JUDGED_WITHIN_MS
    )


def _time_us(page: Page) -> float:
    """Returns the time in the verdict's line, in microseconds."""
    text = page.locator(".verdict-bar .time").inner_text()
    found = re.match(r"([\d.,]+)\s*(ns|µs|ms)", text)
    assert found is not None, text
    return float(found[1].replace(",", "")) * {"ns": 1e-3, "µs": 1.0, "ms": 1e3}[found[2]]


def test_from_a_first_kernel_to_a_finished_lesson(page: Page, stack: Stack) -> None:
    page.goto(stack.address)
    page.get_by_role("link", name="First kernels").first.click()
    page.get_by_role("link", name="Sign up").first.click()
    _sign_up(page, "first")
    page.get_by_role("link", name="Vector addition").first.click()
    if page.get_by_role("link", name="Lesson", exact=True).count():
        page.get_by_role("link", name="Lesson", exact=True).first.click()
    expect(page.get_by_role("heading", name="Goal")).to_be_visible()
    page.get_by_role("link", name="Open in the editor").click()
    expect(page.locator(".cm-content")).to_contain_text("threadIdx.x * gridDim.x")
    _verdict(page, "Run", "Accepted")
    page.get_by_role("tab", name="Profile").click()
    expect(page.get_by_role("columnheader", name="Sectors")).to_be_visible()
    _write(page, COALESCED)
    _verdict(page, "Run", "Accepted")
    expect(page.locator("#difference")).to_contain_text("less time than the last run")
    expect(page.locator("#difference")).to_contain_text("sectors a request")
    goal = page.get_by_role("navigation", name="Track")
    expect(goal).to_contain_text("not reached yet")
    _verdict(page, "Submit", "Accepted")
    expect(goal.get_by_text("reached", exact=True)).to_be_visible()
    expect(goal).not_to_contain_text("not reached yet")
    page.get_by_role("link", name="Next: ReLU").first.click()
    expect(page.get_by_role("heading", name="ReLU", level=1)).to_be_visible()
    page.goto(f"{stack.address}/tracks/first-kernels/vector-add")
    expect(page.get_by_text("goal reached")).to_be_visible()
    page.goto(stack.address)
    expect(page.get_by_role("link", name="Continue: First kernels, lesson 2 of 9")).to_be_visible()


def test_a_wrong_answer_is_found_and_mended(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.address}/account/sign-up?next=/challenges/vector-add")
    _sign_up(page, "mender")
    _write(page, COALESCED.replace("i < N", "i < N - 1"))
    _verdict(page, "Run", "Wrong answer")
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("tab", selected=True)).to_have_text("Cases")
    told = re.compile(r"C\[3\] is 0\.0, expected .+; 1 of 4 elements differ")
    expect(page.get_by_role("region", name="Verdict")).to_contain_text(told)
    _write(page, COALESCED)
    _verdict(page, "Run", "Accepted")
    expect(page).to_have_url(re.compile("/challenges/vector-add"))


def test_three_runs_make_a_kernel_twice_as_fast_on_one_page(page: Page, stack: Stack) -> None:
    page.goto(f"{stack.address}/account/sign-up?next=/challenges/vector-add")
    _sign_up(page, "racer")
    expect(page).to_have_url(re.compile("/challenges/vector-add"))
    page.evaluate("window.stayed = true")
    times = []
    for source in (LESSON, COALESCED, TUNED):
        _write(page, source)
        _verdict(page, "Run", "Accepted")
        times.append(_time_us(page))
    assert times[2] <= times[0] / 2
    assert times == sorted(times, reverse=True)
    expect(page.locator("#difference .improved")).to_be_visible()
    assert page.evaluate("window.stayed")
    expect(page.locator(".cm-heat-gutter .heat").first).to_be_attached()


def test_a_competitor_finds_a_board_and_takes_its_first_place(page: Page, stack: Stack) -> None:
    with stack.client() as client:
        sent = client.post(
            "submissions", json={"challenge": "vector-add", "device": "emulator", "mode": "submit", "source": LESSON}
        )
        assert sent.status_code == 201, sent.text
        until = time.monotonic() + JUDGED_WITHIN_MS / 1000
        while client.get(f"submissions/{sent.json()['id']}").json()["state"] != "done":
            assert time.monotonic() < until
            time.sleep(0.2)
    page.goto(stack.address)
    page.get_by_role("link", name="Leaderboards").click()
    page.get_by_role("link", name="Vector addition").click()
    expect(page.get_by_role("row", name=stack.username)).to_be_visible()
    expect(page.get_by_text("Medals: gold from")).to_contain_text("our best kernel reaches")
    page.get_by_role("link", name="Open challenge").click()
    page.get_by_role("banner").get_by_role("link", name="Sign up").click()
    _sign_up(page, "winner")
    _write(page, TUNED)
    _verdict(page, "Submit", "Accepted")
    page.get_by_role("tab", name="Profile").click()
    expect(page.get_by_role("region", name="Score")).to_contain_text("gold")
    page.get_by_role("region", name="Verdict").get_by_role("link", name="Leaderboard").click()
    expect(page.locator(".own-place")).to_contain_text("Your place: 1 of")
    expect(page.get_by_role("row", name="winner")).to_contain_text("gold")


def test_a_phone_goes_from_a_fault_to_a_place(page: Page, stack: Stack) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(stack.address)
    page.get_by_role("link", name="Start with Vector addition").click()
    page.get_by_role("banner").get_by_role("link", name="Sign up").click()
    _sign_up(page, "walker")
    page.get_by_role("tab", name="Code", exact=True).click()
    _write(page, COALESCED.replace("i < N", "i <= N"))
    _verdict(page, "Run", "Runtime error")
    page.locator("#drawer").get_by_role("link", name="line 6").first.click()
    expect(page.locator(".cm-activeLine")).to_contain_text("i <= N")
    _write(page, COALESCED)
    _verdict(page, "Submit", "Accepted")
    for name in ("Result", "Code", "Statement"):
        page.get_by_role("tab", name=name, exact=True).click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("tab", name="Leaderboard").click()
    expect(page.get_by_role("row", name="walker")).to_be_visible()
