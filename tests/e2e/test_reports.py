"""A submission's pages in a real browser: all tests share one site, whose submissions were judged before."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, FloatRect, Locator, Page, expect

from judge.compile.assembly_json import to_json
from judge.judgement import CaseJudgement, Mismatch, MismatchMap
from judge.verdict import Verdict
from store.assemblies import claim_assembly, finish_assembly
from tests.e2e.conftest import Served, serve
from tests.integration.web.test_assembly import MADE
from tests.integration.web.test_modelled_time import modelled
from tests.web_site import KERNEL, accepted, faulty, make_site, post

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

CHALLENGE = "/challenges/vector-add"
SOURCE = KERNEL.replace("{\n}", "{\n    int first = A[0];\n}") + "// the end\n" * 80
BOARD = "/leaderboards/vector-add?device=emulator"
TIMES = {"ada": (9e-6, 1.2e-5, 6e-6), "bob": (4e-6,), "cy": (5e-6,), "di": (8e-5,), "eve": (7e-6,)}

#: Classes of what belongs to the line under the pointer, and to the one that was clicked.
LINKED, CHOSEN = re.compile(r"\blinked\b"), re.compile(r"\bchosen\b")

#: Opens a page in the browser of a user, who is signed in.
Open = Callable[..., Page]


@dataclass(frozen=True)
class Reported:
    """A site and the ids of what each user sent, the oldest first."""

    served: Served
    ids: dict[str, list[str]]


def mapped(name: str, found: MismatchMap) -> CaseJudgement:
    """A case that is wrong where a map says."""
    mismatch = Mismatch(
        output="C",
        indices=((0,),),
        expected=(1.5,),
        got=(0.0,),
        count=2,
        total=100,
        max_abs_error=1.5,
        max_rel_error=None,
        map=found,
    )
    return CaseJudgement(id=name, group="sample", verdict=Verdict.WRONG_ANSWER, wall_s=0.002, mismatch=mismatch)


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reported]:
    site = make_site(tmp_path_factory.mktemp("reports") / "data")
    site.add_device()
    ids: dict[str, list[str]] = {}

    def send(name: str, source: str) -> None:
        data = {"source": source, "device": "emulator", "mode": "submit"}
        answer = post(site.visitor(name), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
        ids.setdefault(name, []).append(answer.location.rsplit("/", 1)[1])

    for name, times in TIMES.items():
        for number, value in enumerate(times):
            send(name, SOURCE.replace("first", f"first_{number}"))
            site.work(cases=accepted("n-1"), measurement=modelled(value))
    for case in (
        mapped("a-matrix", MismatchMap(64, 64, ("0" * 32,) * 31 + ("0" * 31 + "9",))),
        mapped("a-vector", MismatchMap(1, 100, ("0" * 40 + "59" + "0" * 8,))),
        faulty(line=3),
    ):
        send("ada", SOURCE)
        site.work(cases=(case,))
    post(site.visitor("ada"), f"/submissions/{ids['ada'][0]}/assembly", {"arch": "sm_80"}, page=CHALLENGE)
    with site.database() as session:
        lease = claim_assembly(session, now=site.services.clock())
        assert lease is not None
        assert finish_assembly(session, lease, to_json(MADE), now=site.services.clock())
    with serve(site) as served:
        yield Reported(served, ids)


@pytest.fixture
def open_as(browser: Browser, reported: Reported) -> Iterator[Open]:
    contexts = []

    def open_page(username: str | None, path: str, *, width: int = 1440) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
        context.set_default_timeout(60_000)
        contexts.append(context)
        if username is not None:
            site = reported.served.site
            cookie = site.visitor(username).get_cookie(site.app.config["SESSION_COOKIE_NAME"])
            assert cookie is not None
            context.add_cookies([{"name": cookie.key, "value": cookie.value, "url": reported.served.url}])
        page = context.new_page()
        page.goto(f"{reported.served.url}{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()


def box(locator: Locator) -> FloatRect:
    """Returns where an element is."""
    found = locator.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("width", [390, 1440, 2560])
def test_why_it_is_slow_stands_beside_the_source(open_as: Open, reported: Reported, width: int) -> None:
    page = open_as("ada", f"/submissions/{reported.ids['ada'][2]}", width=width)
    why, source = page.locator(".modelled-time"), page.locator("section:has(> .source)")
    expect(why.get_by_role("heading", name="Why it is slow")).to_be_visible()
    above, below = box(why), box(source)
    if width < 500:
        assert below["y"] >= above["y"] + above["height"]
    else:
        assert below["x"] >= above["x"] + above["width"]
        assert abs(below["y"] - above["y"]) < 1
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    expect(why).to_contain_text("All other lines, launches and waiting: 8.0 %")
    line = page.locator("#L4")
    page.locator("#L80").scroll_into_view_if_needed()
    expect(line).not_to_be_in_viewport()
    why.get_by_role("link", name="line 4").click()
    expect(line).to_have_class(CHOSEN)
    expect(line).to_be_in_viewport()
    line.locator("a").click()
    for told in (why.get_by_role("row", name="72.0 %"), why.get_by_role("link", name="line 4")):
        expect(told).to_have_class(CHOSEN)
    expect(why.get_by_role("link", name="line 4")).to_be_in_viewport()


def test_the_fastest_kernel_is_not_called_slow(open_as: Open, reported: Reported) -> None:
    page = open_as("bob", f"/submissions/{reported.ids['bob'][0]}")
    expect(page.get_by_role("heading", name="Where the time goes")).to_be_visible()
    expect(page.get_by_role("heading", name="Why it is slow")).to_have_count(0)
    page.get_by_role("button", name="Make a link").click()
    page.goto(page.locator("#share-link").inner_text())
    expect(page.get_by_role("heading", name="Where the time goes")).to_be_visible()


def test_a_fault_and_its_line_lead_to_each_other(open_as: Open, reported: Reported) -> None:
    page = open_as("ada", f"/submissions/{reported.ids['ada'][5]}")
    page.locator("details.case > summary").click()  # folds it
    page.locator("#L3 code").click()
    fault = page.get_by_role("link", name="line 3")
    expect(fault).to_be_visible()
    fault.click()
    expect(page.locator("#L3")).to_have_class(CHOSEN)


def test_instructions_and_lines_lead_to_each_other(open_as: Open, reported: Reported) -> None:
    page = open_as("ada", f"/submissions/{reported.ids['ada'][0]}/assembly?arch=sm_80")
    expect(page.locator(".figures dd")).to_have_text(["40", "1,024 B", "8 B", "75 %"])
    expect(page.locator(".figures dt").last).to_have_text("occupancy in blocks of 256, limited by registers")
    load = page.locator(".listing li").filter(has_text="LDG.E")
    page.locator("#L3").hover()
    expect(load).to_have_class(LINKED)
    page.locator("#L3 a").click()
    expect(load).to_have_class(CHOSEN)
    page.locator("#L80").scroll_into_view_if_needed()
    load.click()
    expect(page.locator("#L3")).to_be_in_viewport()
    expect(page.locator("#L3")).to_have_class(CHOSEN)
    page.get_by_role("link", name="PTX").click()
    expect(page.locator(".listing")).to_contain_text("ld.global.f32 %f1, [%rd1];")
    page.get_by_role("link", name="T4").click()
    expect(page.get_by_role("button", name="Make it for T4")).to_be_visible()


def test_a_map_shows_where_a_matrix_and_a_vector_are_wrong(open_as: Open, reported: Reported) -> None:
    for number, is_square, told in (
        (3, True, "rows 62 to 63 of 64, columns 62 to 63 of 64"),
        (4, False, "elements 80 to 83 of 100"),
    ):
        page = open_as("ada", f"/submissions/{reported.ids['ada'][number]}")
        drawn = page.get_by_role("img", name="Map of C")
        expect(page.locator(".mismatch-figure")).to_contain_text(f"The wrong elements lie in {told}, counted from 0.")
        cells = box(drawn.locator(".frame"))
        assert cells["width"] >= 300
        assert cells["height"] >= 150
        assert (cells["width"] == pytest.approx(cells["height"], rel=0.01)) is is_square


@pytest.mark.parametrize("width", [390, 1440])
def test_two_submissions_of_ones_own_are_compared(open_as: Open, reported: Reported, width: int) -> None:
    first, _, third = reported.ids["ada"][:3]
    page = open_as("ada", f"/submissions/{third}", width=width)
    page.get_by_label("Compare with").select_option(first)
    page.get_by_role("button", name="Compare").click()
    figures = page.get_by_role("region", name="Figures")
    expect(figures.get_by_role("row", name="Time")).to_contain_text("9.000 µs")
    expect(figures.get_by_role("row", name="Time").locator("b")).to_have_text("6.000 µs")
    changed = page.locator(".diff .changed")
    expect(changed).to_have_count(1)
    expect(changed.locator(".left")).to_contain_text("first_0")
    expect(changed.locator(".right")).to_contain_text("first_2")
    before, after = box(changed.locator(".left")), box(changed.locator(".right"))
    assert (after["y"] > before["y"]) if width < 500 else (after["x"] > before["x"])
    assert after["x"] + after["width"] <= width, "both are seen without scrolling"


def test_nobody_compares_with_somebody_elses_submission(open_as: Open, reported: Reported) -> None:
    own, other = reported.ids["ada"][0], reported.ids["bob"][0]
    page = open_as("ada", f"/submissions/{own}")
    for path in (f"{own}/compare?with={other}", f"{other}/compare?with={own}"):
        answer = page.goto(f"{reported.served.url}/submissions/{path}")
        assert answer is not None
        assert answer.status == 404
        expect(page.get_by_text("You have no such submission.")).to_be_visible()
        expect(page.get_by_text("first_0")).to_have_count(0)


def test_a_link_shows_a_submission_until_it_is_revoked(open_as: Open, reported: Reported) -> None:
    page = open_as("ada", f"/submissions/{reported.ids['ada'][1]}")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#share-link").inner_text()
    visitor = open_as(None, link.removeprefix(reported.served.url))
    expect(visitor.get_by_text("shared by ada")).to_be_visible()
    expect(visitor.locator("#L4")).to_contain_text("first_1")
    visitor.get_by_role("link", name="line 4").click()
    expect(visitor.locator("#L4")).to_have_class(CHOSEN)
    page.get_by_role("button", name="Revoke the link").click()
    expect(page.get_by_role("button", name="Make a link")).to_be_visible()
    for path in (link, f"{link}/kernel.cu"):
        answer = visitor.goto(path)
        assert answer is not None
        assert answer.status == 404
        expect(visitor.get_by_text("the link was revoked")).to_be_visible()


@pytest.mark.parametrize("width", [390, 1440])
def test_one_s_times_on_a_challenge_are_drawn_with_their_changes(open_as: Open, width: int) -> None:
    page = open_as("ada", "/submissions?challenge=vector-add", width=width)
    expect(page.get_by_role("img", name="Your 3 times on emulator")).to_be_visible()
    expect(page.get_by_text("3 times, the best 6.00 µs")).to_be_visible()
    changes = page.get_by_role("region", name="Submissions").get_by_text("%")
    expect(changes.locator("visible=true")).to_have_text(["−33.3 %", "+33.3 %"])
    page.get_by_text("As a table").click()
    page.get_by_role("link", name="20").first.click()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()


def test_a_board_tells_ones_place_and_the_distance_in_words(open_as: Open) -> None:
    page = open_as("ada", BOARD)
    expect(page.locator(".own-place")).to_contain_text("Your place: 3 of 5. 6.000 µs, 50 % slower than the best.")
    expect(page.get_by_role("img", name="The best times of 5 people")).to_contain_text("yours, 6.00 µs")
    expect(page.get_by_role("row", name="bob")).to_contain_text("best")
    expect(page.locator("tr.mine")).to_contain_text("+50.0 %")
    expect(page.get_by_role("row", name="di 80")).to_contain_text("20.0×")
    visitor = open_as(None, BOARD)
    expect(visitor.get_by_role("img", name="The best times of 5 people")).to_contain_text("the best, 4.00 µs")


def test_what_is_wrong_is_told_at_its_field_and_nothing_is_lost(open_as: Open) -> None:
    page = open_as("ada", CHALLENGE)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("// mine\n")
    page.get_by_role("button", name="Own input", exact=True).click()
    size, values, other = (page.locator(f"[name='input.{name}']") for name in "NAB")
    other.fill("constant 2")
    for field, text, told in (
        (size, "-3", "must be from 1 to 100,000,000, not -3"),
        (size, "1.5", "'1.5' is not a whole number"),
        (size, "NaN", "'NaN' is not a whole number"),
        (size, "100000001", "must be from 1 to 100,000,000, not 100,000,001"),
        (size, "90000000", "choose smaller sizes"),
        (size, "2", ""),
        (values, "1 NaN", "NaN cannot be used here: write a finite number"),
        (values, "1 2 3", "3 values for 2 elements"),
    ):
        page.get_by_role("button", name="Own input", exact=True).click()
        field.fill(text)
        page.get_by_role("button", name="Run own input").click()
        note = page.locator(f"#{field.get_attribute('aria-describedby')}")
        if told:
            expect(note).to_contain_text(told)
            expect(field).to_have_attribute("aria-invalid", "true")
            expect(field).to_be_focused()
            expect(note).to_be_in_viewport(ratio=1)
        else:
            expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
            page.get_by_role("button", name="Cancel").click()
            expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()
        expect(field).to_have_value(text)
        expect(other).to_have_value("constant 2")
        expect(page.locator("#source")).to_have_value("// mine\n")
        expect(page.get_by_role("button", name="Run")).to_be_enabled()
        assert box(page.locator(".editor-box"))["height"] >= 80
    page.reload()
    expect(values).to_have_value("1 2 3")


def test_a_draft_that_is_too_large_is_told_and_kept_in_the_window(open_as: Open) -> None:
    page = open_as("cy", CHALLENGE)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.evaluate("navigator.clipboard.writeText('// much\\n'.repeat(40_000))")
    page.keyboard.press("Control+v")
    expect(page.locator("#saved")).to_contain_text("A draft may have 256 KiB")
    for name in ("Run", "Submit"):
        page.get_by_role("button", name=name).click()
        expect(page.locator("#problem")).to_have_text("The source is larger than 262,144 bytes.")
        expect(page.get_by_role("button", name=name)).to_be_enabled()
    assert page.evaluate("document.getElementById('source').value.length") == 320_000
    assert page.url.endswith(CHALLENGE)
