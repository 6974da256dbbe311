"""The website in a real browser. The workers are played by the test, so that each step of the progress can be seen."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, FloatRect, Locator, Page, Route, expect
from sqlalchemy import select

from judge.compile.assembly import Assembly, FunctionAssembly
from judge.compile.assembly_json import to_json
from judge.compile.listing import Instruction
from judge.judgement import BuildReport
from judge.measurements import ModelledCase
from store.draft_assemblies import claim_draft_assembly, finish_draft_assembly
from store.models.submissions import Submission
from tests.e2e.conftest import Served
from tests.integration.web.test_modelled_time import modelled
from tests.web_site import H200, PASSWORD, accepted, faulty, on_emulator, trusted, wrong

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

SOURCE = 'extern "C" void solve(const float* A, const float* B, float* C, int N) { /* mine */ }\n'
CHALLENGE = "/challenges/vector-add"


def _sign_up(page: Page, served: Served, username: str = "ada") -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    page.get_by_role("banner").get_by_role("link", name="Sign up").click()
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Create the account").click()
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")


def _write(page: Page, source: str = SOURCE) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.evaluate("text => navigator.clipboard.writeText(text)", source)
    page.keyboard.press("Control+v")


def test_from_sign_up_to_the_leaderboard(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Submit").click()
    status = page.get_by_role("status").filter(has_text="queue")
    expect(status).to_have_text("Next in the queue")
    steps = served.site.work_in_steps(cases=accepted("n-1", "n-33"), measurement=on_emulator())
    line = page.locator('[data-part="line"]')
    for step, told in (
        ("building", "Building with nvcc"),
        ("running", "Running the cases"),
        ("case", "Case 1 of 2"),
        ("case", "Case 2 of 2"),
        ("timing", "Timing, call 1"),
    ):
        assert next(steps) == step
        expect(line).to_have_text(told)
    expect(page.locator('[data-part="cases"] li')).to_have_text(["AC", "AC"])
    assert next(steps) == "done"
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page.get_by_text("4.24").first).to_be_visible()
    page.get_by_role("link", name="Leaderboard", exact=True).click()
    expect(page.get_by_role("row", name="ada")).to_contain_text("4.24")
    page.get_by_role("link", name="Challenges").first.click()
    expect(page.get_by_text("Solved by you")).to_be_attached()


def test_from_sign_up_to_accepted_by_the_keyboard_alone(page: Page, served: Served) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    _tab_to(page, page.get_by_role("banner").get_by_role("link", name="Sign up"))
    page.keyboard.press("Enter")
    _tab_to(page, page.get_by_label("User name"))
    page.keyboard.type("ada")
    _tab_to(page, page.get_by_label("Password"))
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")
    editor = page.locator(".cm-content")
    expect(editor).to_be_visible()
    _tab_to(page, editor)
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SOURCE)
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # leaves the editor within two seconds of Esc
    _tab_to(page, page.get_by_role("button", name="Run"))
    page.keyboard.press("Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    _tab_to(page, page.get_by_role("button", name="Submit"))
    page.keyboard.press("Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1", "n-33"), measurement=on_emulator())
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")
    _tab_to(page, page.get_by_role("link", name="Leaderboard", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="ada")).to_contain_text("4.24")


def _tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the target has the focus."""
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab does not reach {target}")


def test_what_a_page_is_refused_is_noticed(page: Page, served: Served, complaints: list[str]) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    with page.expect_console_message(lambda message: message.text.startswith("refused by style-src-attr")):
        page.evaluate("document.body.setAttribute('style', 'color: red')")
    assert any("refused by style-src-attr" in text for text in complaints)
    complaints.clear()


def test_a_run_is_reported_beneath_the_editor(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// one\n// two\n" + SOURCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    expect(page.get_by_role("button", name="Run")).to_be_disabled()
    served.site.work(cases=(*accepted("n-1"), faulty(line=3)))
    expect(page.get_by_role("heading", name="Runtime error")).to_be_visible()
    assert page.url.endswith(CHALLENGE)
    page.get_by_role("link", name="line 3").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("extern")
    expect(page.get_by_role("button", name="Run")).to_be_enabled()


def test_a_run_is_compared_with_the_one_before_it(page: Page, served: Served) -> None:
    def run(seconds: float, sectors: int) -> None:
        page.keyboard.press("Control+Enter")
        expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
        found = modelled(seconds)
        case = found.cases[0]
        assert isinstance(case, ModelledCase)
        line = dataclasses.replace(case.lines[0], line=1, global_sectors=sectors)
        found = dataclasses.replace(found, cases=(dataclasses.replace(case, lines=(line,)),))
        served.site.work(cases=accepted("n-1"), unranked=found)
        expect(page.get_by_role("heading", name="Accepted")).to_be_visible()

    _sign_up(page, served)
    _write(page)
    run(10e-6, 80)
    difference = page.locator("#difference")
    expect(page.locator(".cm-heat-gutter .heat-4")).to_have_text("72 %")
    expect(difference).to_be_hidden()
    page.locator(".cm-content").click()
    run(8.8e-6, 44)
    expect(difference).to_have_text("12 % less time than the last run, line 1: 2.0 → 1.1 sectors a request")
    expect(difference.locator(".improved")).to_have_text("12 % less time than the last run")
    page.reload()
    expect(difference).to_have_text("12 % less time than the last run, line 1: 2.0 → 1.1 sectors a request")
    page.locator(".cm-content").click()
    run(8.8e-6, 160)
    expect(difference).to_have_text("the same time as the last run, line 1: 1.1 → 4.0 sectors a request")
    expect(difference.locator(".improved")).to_have_count(0)


#: The lines of the editor that are whole on the screen.
WHOLE_LINES = """() => {
    const {top, bottom} = document.querySelector(".cm-scroller").getBoundingClientRect();
    return [...document.querySelectorAll(".cm-line")].filter((line) => {
        const box = line.getBoundingClientRect();
        return box.top >= top - 1 && box.bottom <= bottom + 1;
    }).length;
}"""


def test_a_result_leaves_twenty_lines_of_the_editor_and_tells_its_verdict_in_one(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    _sign_up(page, served)
    page.reload()  # without the welcome
    _write(page, SOURCE + "// more\n" * 40)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    fault = faulty(line=1)
    served.site.work(cases=(*accepted("n-1"), dataclasses.replace(fault, message=fault.memory_errors[0].message)))
    verdict = page.get_by_role("region", name="Verdict")
    expect(verdict.get_by_role("heading", name="Runtime error")).to_be_visible()
    assert _box(page, ".verdict-bar")["height"] < 40
    assert page.evaluate(WHOLE_LINES) >= 20
    drawer = page.locator("#drawer")
    expect(drawer.get_by_text("4 bytes at offset 132 of output")).to_have_count(1)
    expect(drawer.get_by_role("tab", selected=True)).to_have_text("Cases")
    expect(drawer.get_by_role("tab")).to_have_text(["Cases", "Output", "Own input", "Machine code"])
    drawer.get_by_role("tab", name="Cases").press("ArrowRight")
    expect(drawer.get_by_role("tab", selected=True)).to_have_text("Output")
    expect(drawer.get_by_role("heading", name="Build")).to_be_visible()
    expect(drawer.get_by_role("heading", name="Cases")).to_be_hidden()
    drawer.get_by_role("tab", name="Output").press("ArrowRight")
    expect(drawer.get_by_role("tab", selected=True)).to_have_text("Own input")
    expect(drawer.get_by_role("heading", name="Build")).to_be_hidden()
    assert page.evaluate(WHOLE_LINES) >= 20


def _custom_size(served: Served) -> str | None:
    """Returns the size that the only submission is run on."""
    with served.site.database() as session:
        given = session.scalars(select(Submission)).one().custom_input
    return None if given is None else given["N"]


def _run_on_twelve(page: Page, served: Served) -> None:
    """Runs on an input of one's own, and looks at what is judged."""
    page.get_by_label("N from 1 to").fill("12")
    page.get_by_role("button", name="Run").click()
    expect(page.locator('[data-part="line"]')).to_have_text(re.compile("queue"))
    assert _custom_size(served) == "12"
    served.site.work(cases=accepted("own"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()


def test_a_run_on_an_input_of_ones_own_is_followed_by_its_result(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Own input").click()
    _run_on_twelve(page, served)
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("tab", selected=True)).not_to_have_text("Own input")
    expect(page.get_by_label("N from 1 to")).to_be_hidden()
    drawer.get_by_role("tab", name="Own input").click()
    page.get_by_label("Run the public cases").check()
    expect(page.get_by_role("button", name="Run Ctrl")).to_be_visible()


def test_a_phone_runs_on_an_input_of_ones_own(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    _sign_up(page, served)
    page.get_by_role("tab", name="Code").click()
    _write(page)
    page.get_by_role("button", name="Own input").click()
    _run_on_twelve(page, served)


def test_an_input_of_ones_own_needs_no_scripts(browser_without_scripts: Page, served: Served) -> None:
    page = browser_without_scripts
    _sign_up(page, served)
    page.get_by_role("textbox", name="Source").fill(SOURCE)
    page.get_by_text("Run on an input of your own").click()
    page.get_by_label("Run my own input").check()
    page.get_by_label("N from 1 to").fill("12")
    page.get_by_role("button", name="Run Ctrl").click()
    expect(page.get_by_text("In the queue")).to_be_visible()
    assert _custom_size(served) == "12"


def test_the_machine_code_of_what_is_written_stands_beside_it(page: Page, served: Served) -> None:
    def make(text: str, line: int) -> None:
        listing = (Instruction(text, line),)
        made = Assembly("sm_90", (FunctionAssembly("add", True, None, None, listing, (Instruction("LDG", line),)),))
        now = served.site.services.clock()
        with served.site.database() as session:
            lease = claim_draft_assembly(session, now=now)
            assert lease is not None
            assert finish_draft_assembly(session, lease, to_json(made), now=now)

    _sign_up(page, served)
    _write(page, "// one\n// two\n" + SOURCE)
    panel = page.get_by_role("tabpanel", name="Machine code")
    with page.expect_response("**/assembly"):
        page.get_by_role("button", name="Machine code").click()
    make("ld.global.f32", 3)
    expect(panel.locator("li.tint-3")).to_contain_text("ld.global.f32")
    expect(page.locator(".cm-line.tint-3")).to_contain_text("extern")
    panel.get_by_label("Kind").select_option("sass")
    expect(panel.locator("li.tint-3")).to_contain_text("LDG")
    panel.get_by_label("Kind").select_option("ptx")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    with page.expect_response("**/assembly"):
        page.keyboard.type("// zero\n")
    make("st.global.f32", 4)
    expect(panel.locator("li.tint-4")).to_contain_text("st.global.f32")
    expect(page.locator(".cm-line.tint-4")).to_contain_text("extern")
    panel.get_by_role("link", name="4").click()
    expect(page.locator(".cm-activeLine")).to_contain_text("extern")
    page.get_by_role("button", name="Close").click()
    expect(page.locator(".cm-line.tint-4")).to_have_count(0)


def test_a_phone_shows_how_far_each_element_is_off(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    _sign_up(page, served)
    page.get_by_role("tab", name="Code", exact=True).click()
    _write(page)
    page.get_by_role("button", name="Run").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    case = wrong()
    assert case.mismatch is not None
    mismatch = dataclasses.replace(case.mismatch, allowed=(1e-6, 1e-6))
    served.site.work(cases=(dataclasses.replace(case, mismatch=mismatch),))
    error = page.locator("td[data-label=Error]").first
    expect(error).to_contain_text("allowed 1e-06")
    box = error.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    expected = page.locator("td[data-label=Expected]").first.bounding_box()
    assert expected is not None
    assert expected["y"] < box["y"]


def test_messages_of_a_run_stand_at_their_lines_and_survive_a_reload(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// one\n// two\n" + SOURCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    page.reload()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=(*accepted("n-1"), faulty(line=3)))
    expect(page.get_by_role("heading", name="Runtime error")).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_contain_text("extern")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("F8")
    expect(page.locator(".cm-tooltip .cm-diagnostic")).to_be_visible()
    expect(page.locator(".cm-activeLine")).to_contain_text("extern")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#drawer")).to_be_hidden()
    page.reload()
    expect(page.locator(".cm-content")).to_be_visible()
    expect(page.locator("#drawer")).to_be_hidden()


def test_a_run_is_cancelled_from_the_drawer(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Run").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()
    expect(page.get_by_role("button", name="Run")).to_be_enabled()


def test_the_panes_are_moved_by_keys_and_remembered(page: Page, served: Served) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    divider = page.get_by_role("separator", name="Width of the statement")
    before = divider.bounding_box()
    divider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    after = divider.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] > before["x"] + 50
    page.reload()
    expect(page.locator(".cm-content")).to_be_visible()
    again = divider.bounding_box()
    assert again is not None
    assert abs(again["x"] - after["x"]) < 2


def test_the_result_stands_beside_the_editor_where_there_is_room(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 2560, "height": 1440})
    _sign_up(page, served)
    _write(page)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    editor, result = _box(page, "#workbench-form"), _box(page, "#drawer")
    assert result["x"] >= editor["x"] + editor["width"]
    assert abs(result["y"] - editor["y"]) < 1
    assert abs(result["x"] + result["width"] - 2550) < 2
    divider = page.get_by_role("separator", name="Size of the result")
    divider.focus()
    expect(divider).to_have_attribute("aria-orientation", "vertical")
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    assert _box(page, "#drawer")["width"] > result["width"] + 100


def _box(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box


def test_a_phone_shows_every_tab_and_one_row_above_the_challenge(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    _sign_up(page, served)
    page.reload()  # without the welcome
    code = _box(page, "#tab-code")
    assert code["x"] + code["width"] < 390
    assert _box(page, "#tabs")["y"] < 110
    page.get_by_role("tab", name="Code", exact=True).click()
    assert _box(page, ".editor-box")["height"] > 450


def test_a_phone_shows_the_result_in_a_tab(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    _sign_up(page, served)
    result = page.get_by_role("tab", name="Result")
    expect(result).to_be_hidden()
    page.get_by_role("tab", name="Code", exact=True).click()
    _write(page, "// one\n// two\n" + SOURCE)
    page.get_by_role("button", name="Run").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    expect(result).to_have_attribute("aria-selected", "true")
    expect(page.locator("#workbench-form")).to_be_hidden()
    served.site.work(cases=(*accepted("n-1"), faulty(line=3)))
    expect(page.get_by_role("heading", name="Runtime error")).to_be_visible()
    assert _box(page, "#drawer")["height"] > 600
    page.get_by_role("tab", name="Code", exact=True).click()
    expect(page.locator("#drawer")).to_be_hidden()
    result.click()
    page.get_by_role("link", name="line 3").first.click()
    expect(page.locator(".cm-activeLine")).to_contain_text("extern")
    result.click()
    page.get_by_role("button", name="Close").click()
    expect(result).to_be_hidden()
    expect(page.locator(".cm-content")).to_be_visible()


def test_tabs_show_the_submissions_and_the_board(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Run").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    page.get_by_role("tab", name="Submissions").click()
    panel = page.get_by_role("tabpanel", name="Submissions")
    expect(panel.get_by_role("row")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tabpanel", name="Leaderboard")).to_contain_text("Nobody is on this board yet")
    expect(panel).to_be_hidden()


def test_the_editor_has_the_keys_and_the_help_that_one_asks_for(page: Page, served: Served) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    _write(page, "__global__ void f() { __syncthreads(); }\n")
    page.locator(".cm-cuda-builtin").hover()
    expect(page.locator(".cm-help")).to_contain_text("Waits for all threads of the block")
    page.mouse.move(5, 600)
    page.get_by_text("Editor", exact=True).click()
    page.get_by_label("Keys").select_option("vim")
    page.get_by_label("Font size").select_option("18")
    expect(page.locator(".cm-vim-panel")).to_be_visible()
    page.reload()
    expect(page.locator(".cm-vim-panel")).to_be_visible()
    assert page.locator(".cm-editor").evaluate("element => getComputedStyle(element).fontSize") == "18px"


def test_the_editor_is_ready_before_its_comforts_are_there(page: Page, context: BrowserContext, served: Served) -> None:
    waiting: list[Route] = []
    context.route("**/comforts-*.js", lambda route: waiting.append(route))
    page.goto(f"{served.url}{CHALLENGE}")
    _write(page, "__global__ void f() { __syncthreads(); }\n")
    assert page.evaluate("performance.getEntriesByName('workbench-ready').length") == 1
    expect(page.locator("#source")).to_have_value("__global__ void f() { __syncthreads(); }\n")
    expect(page.locator(".cm-cuda-builtin")).to_have_count(0)
    assert len(waiting) == 1
    waiting[0].continue_()
    expect(page.locator(".cm-cuda-builtin")).to_have_count(1)
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search")).to_be_visible()


def test_keys_are_taken_before_the_editor_is_fetched(page: Page, context: BrowserContext, served: Served) -> None:
    waiting: list[Route] = []
    context.route("**/vendor/editor/editor.js", lambda route: waiting.append(route))
    page.goto(f"{served.url}{CHALLENGE}")
    text_area = page.locator("#source")
    page.wait_for_function("performance.getEntriesByName('workbench-ready').length")
    text_area.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("// early\n")
    expect(page.get_by_text("Draft kept in this browser")).to_be_visible()
    for route in waiting:
        route.continue_()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("// late\n")
    expect(text_area).to_have_value(re.compile("^// early\n// late\n// Vector"))
    for _ in ("the line's end", "the line", "what the text area took"):
        page.keyboard.press("Control+z")
    expect(text_area).to_have_value(re.compile("^// Vector"))


def test_a_run_needs_no_more_than_the_text_area(page: Page, context: BrowserContext, served: Served) -> None:
    _sign_up(page, served)
    context.route("**/vendor/editor/*", lambda route: route.abort())
    page.reload()
    page.locator("#source").fill("// one\n// two\n" + SOURCE)
    page.keyboard.press("Control+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=(faulty(line=3),))
    page.get_by_role("link", name="line 3").first.click()
    expect(page.locator("#source")).to_be_focused()
    page.keyboard.type("// here: ")
    expect(page.locator("#source")).to_have_value(re.compile("^// one\n// two\n// here: extern"))


def test_a_draft_lies_one_undo_below_an_example(page: Page, served: Served) -> None:
    page.goto(f"{served.url}/challenges/matrix-add")
    _write(page)
    expect(page.get_by_text("Draft kept in this browser")).to_be_visible()
    page.goto(f"{served.url}/bottlenecks/coalescing")
    page.get_by_role("link", name=re.compile("editor")).first.click()
    expect(page.get_by_text("Your draft comes back with Ctrl+Z")).to_be_visible()
    expect(page.locator(".cm-content")).not_to_contain_text("/* mine */")
    page.locator(".cm-content").focus()
    page.keyboard.press("Control+z")
    expect(page.locator(".cm-content")).to_contain_text("/* mine */")


def test_progress_is_polled_where_streams_are_cut_off(page: Page, context: BrowserContext, served: Served) -> None:
    def cut(route: Route) -> None:
        if "text/event-stream" in route.request.headers["accept"]:
            route.fulfill(status=502, body="a proxy says no")
        else:
            route.continue_()

    context.route("**/events*", cut)
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator('[data-part="line"]')).to_have_text(re.compile("queue"))
    steps = served.site.work_in_steps(cases=(wrong("n-7"),))
    next(steps)
    expect(page.locator('[data-part="line"]')).to_have_text("Building with nvcc")
    for _ in steps:
        pass
    expect(page.get_by_role("heading", name="Wrong answer")).to_be_visible()
    expect(page.get_by_text("2 of 100 elements of C are wrong")).to_be_visible()


def test_a_server_that_goes_away_is_waited_for(page: Page, context: BrowserContext, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Run").click()
    line = page.locator('[data-part="line"]')
    expect(line).to_have_text("Next in the queue")
    context.route("**/report", lambda route: route.abort())
    served.site.work(cases=accepted("n-1"))
    expect(line).to_contain_text("trying again")
    context.unroute("**/report")
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()


def test_compiler_errors_are_shown_at_their_line(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// first\nint x\n")
    page.keyboard.press("Control+Shift+Enter")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(build=BuildReport(ok=False, wall_s=0.2, log='kernel.cu(2): error: expected a ";"\n'))
    expect(page.get_by_role("heading", name="Compile error")).to_be_visible()
    expect(page.locator(".cm-lintRange-error")).to_have_count(1)
    page.goto(f"{served.url}/submissions/{_newest(served)}")
    expect(page.locator("#L2 .note")).to_have_text('error: expected a ";"')


def test_a_submission_is_judged_beneath_the_editor_with_its_time_and_its_lines(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// one\n// two\n" + SOURCE)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1", "n-33"), measurement=modelled(7e-6))
    drawer = page.locator("#drawer")
    expect(drawer.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(drawer.get_by_text("1 of 1")).to_be_visible()
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")
    expect(page.locator(".cm-heat-gutter .heat").first).to_be_attached()
    drawer.get_by_role("link", name="Page of this submission").click()
    for link in ("Back to the editor", "Edit this version"):
        page.goto(f"{served.url}/submissions/{_newest(served)}")
        page.get_by_role("link", name=link).first.click()
        expect(page.locator(".cm-content")).to_contain_text("// two")
        expect(drawer.get_by_role("heading", name="Accepted")).to_be_visible()
        expect(page.locator(".cm-heat-gutter .heat").first).to_be_attached()


def test_the_editor_shows_no_result_of_another_source(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1"), measurement=modelled(7e-6))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    page.get_by_role("button", name="Close").click()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("// later")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.goto(f"{served.url}/submissions/{_newest(served)}")
    page.get_by_role("link", name="Back to the editor").click()
    expect(page.locator(".cm-content")).to_contain_text("// later")
    expect(page.locator("#drawer")).to_be_hidden()


def test_who_has_to_log_in_to_run_is_told_so_and_it_runs_then(page: Page, served: Served) -> None:
    served.site.add_user("ada")
    page.goto(f"{served.url}{CHALLENGE}")
    _write(page)
    expect(page.get_by_text("Draft kept in this browser")).to_be_visible()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_text("Log in to run your kernel.")).to_be_visible()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=accepted("n-1"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("/* mine */")
    page.reload()
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()
    assert len(served.site.visitor("ada").get("/submissions").text.split('href="/submissions/')) == 2, "it ran once"


def _newest(served: Served) -> str:
    listed = served.site.visitor("ada").get("/submissions").text
    return listed.split('href="/submissions/')[1].split('"')[0]


def test_the_editor_changes_its_language_and_keeps_a_draft_of_each(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// of CUDA\n__global__ void kernel() {}\n")
    expect(page.locator(".cm-cuda-qualifier").first).to_have_text("__global__")
    expect(page.locator("#saved")).to_have_text("Saved")
    language = page.get_by_label("Language")
    language.select_option(label="Triton")
    expect(page.locator(".cm-content")).to_contain_text("import triton")
    expect(page.locator(".cm-cuda-qualifier")).to_have_count(0)
    expect(page.locator(".cm-line", has_text="import triton").first.locator("span").first).to_have_text("import")
    language.select_option(label="CUDA C++")
    expect(page.locator(".cm-content")).to_contain_text("// of CUDA")
    expect(page.locator(".cm-cuda-qualifier").first).to_have_text("__global__")


def test_a_draft_survives_a_reload_and_a_log_in(page: Page, served: Served) -> None:
    served.site.add_user("ada")
    page.goto(f"{served.url}{CHALLENGE}")
    _write(page)
    expect(page.get_by_text("Draft kept in this browser")).to_be_visible()
    page.get_by_role("button", name="Submit").click()
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Log in").click()
    expect(page).to_have_url(f"{served.url}{CHALLENGE}")
    expect(page.locator(".cm-content")).to_contain_text("/* mine */")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Reset").click()
    expect(page.locator(".cm-content")).to_contain_text("Vector addition")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.reload()
    expect(page.locator(".cm-content")).to_be_visible()
    expect(page.locator(".cm-content")).not_to_contain_text("/* mine */")
    page.get_by_text("History", exact=True).click()
    page.locator("#versions button").last.click()
    expect(page.locator(".cm-content")).to_contain_text("/* mine */")


def test_what_a_reset_replaced_is_in_the_history_though_its_save_was_lost(page: Page, served: Served) -> None:
    _sign_up(page, served)
    _write(page)
    expect(page.locator("#saved")).to_have_text("Saved")
    page.route("**/draft", lambda route: route.abort() if route.request.method == "PUT" else route.continue_())
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Reset").click()
    expect(page.locator("#saved")).to_have_text("Not saved: the server cannot be reached")
    page.unroute("**/draft")
    # As the page goes it would save once more; a browser that ends at once cannot.
    page.evaluate("() => { Object.defineProperty(window, 'fetch', { value: () => new Promise(() => {}) }); }")
    page.reload()
    expect(page.locator("#saved")).to_have_text("Saved")
    expect(page.locator(".cm-content")).not_to_contain_text("/* mine */")
    page.get_by_text("History", exact=True).click()
    page.locator("#versions button").last.click()
    expect(page.locator(".cm-content")).to_contain_text("/* mine */")


def test_two_windows_do_not_overwrite_each_other(page: Page, context: BrowserContext, served: Served) -> None:
    _sign_up(page, served)
    _write(page, "// begun\n")
    expect(page.locator("#saved")).to_have_text("Saved")
    other = context.new_page()
    other.goto(f"{served.url}{CHALLENGE}")
    expect(other.locator(".cm-content")).to_contain_text("// begun")
    _write(other, "// from the other window\n")
    expect(other.locator("#saved")).to_have_text("Saved")
    page.bring_to_front()
    _write(page, "// from this window\n")
    expect(page.get_by_text("changed in another window")).to_be_visible()
    page.get_by_role("button", name="Keep this one").click()
    expect(page.locator("#saved")).to_have_text("Saved")
    page.reload()
    expect(page.locator(".cm-content")).to_contain_text("// from this window")
    page.get_by_text("History", exact=True).click()
    expect(page.locator("#versions button")).to_have_count(2)
    page.locator("#versions button").last.click()
    expect(page.locator(".cm-content")).to_contain_text("// from the other window")


def test_files_are_opened_or_refused(page: Page, served: Served, tmp_path: Path) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    (tmp_path / "good.cu").write_text("// from a file\r\nint y;\r\n")
    (tmp_path / "latin.cu").write_bytes(b"// caf\xe9\n")
    (tmp_path / "large.cu").write_text("x" * (256 * 1024 + 1))
    chooser = page.locator("#file")
    chooser.set_input_files(tmp_path / "good.cu")
    expect(page.locator(".cm-content")).to_contain_text("// from a file")
    chooser.set_input_files(tmp_path / "latin.cu")
    expect(page.get_by_role("alert")).to_contain_text("not UTF-8")
    chooser.set_input_files(tmp_path / "large.cu")
    expect(page.get_by_role("alert")).to_contain_text("262,145 bytes")
    expect(page.locator(".cm-content")).to_contain_text("// from a file")


def test_maths_is_typeset_and_the_editor_coloured(page: Page, served: Served) -> None:
    page.goto(f"{served.url}{CHALLENGE}")
    expect(page.locator(".math.block math msub").first).to_be_visible()
    expect(page.locator(".cm-line span").first).to_be_visible()
    keyword = page.locator(".cm-line span", has_text="extern").first
    plain = page.locator(".cm-content")
    colour = "element => getComputedStyle(element).color"
    assert keyword.evaluate(colour) != plain.evaluate(colour)


def test_the_theme_follows_the_system_until_it_is_chosen(page: Page, served: Served) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    page.emulate_media(color_scheme="dark")
    page.goto(served.url)
    dark = page.evaluate(background)
    page.emulate_media(color_scheme="light")
    light = page.evaluate(background)
    assert dark != light
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(background) == dark
    page.reload()
    assert page.evaluate(background) == dark


def test_nothing_is_wider_than_a_phone(page: Page, served: Served) -> None:
    page.set_viewport_size({"width": 375, "height": 740})
    _sign_up(page, served)
    page.get_by_role("tab", name="Code", exact=True).click()
    _write(page)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator('[data-part="line"]')).to_have_text("Next in the queue")
    served.site.work(cases=(*accepted("n-1"), faulty()))
    expect(page.get_by_role("heading", name="Runtime error")).to_be_visible()
    too_wide = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(too_wide) <= 0
    for path in (
        "/",
        CHALLENGE,
        f"/submissions/{_newest(served)}",
        "/leaderboards/",
        "/leaderboards/vector-add",
        "/submissions",
        "/account/",
        "/nowhere",
    ):
        page.goto(f"{served.url}{path}")
        assert page.evaluate(too_wide) <= 0, path


@pytest.mark.parametrize("width", [375, 1280])
def test_a_board_with_intervals_fits_and_is_told_to_screen_readers(page: Page, served: Served, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    served.site.add_device(H200)
    page.goto(served.url)
    for name, value in (("ada", 1.25e-4), ("a_name_as_long_as_names_can_be_x", 1.254e-4), ("eve", 9e-4)):
        served.site.add_user(name)
        token = served.site.token_of(name)
        body = {"challenge": "vector-add", "device": H200.key, "mode": "submit", "source": SOURCE}
        sent = page.request.post(
            f"{served.url}/api/v1/submissions", data=body, headers={"Authorization": f"Bearer {token}"}
        )
        assert sent.status == 201
        served.site.work(device=H200, cases=accepted("n-1"), measurement=trusted(value))
    page.goto(f"{served.url}/leaderboards/vector-add?device={H200.key}")
    for told in ("1.000 times the best, 95 % interval 124.6–125.4", "1.003 times the best"):
        bar = page.get_by_role("img", name=told)
        expect(bar).to_be_visible()
        box = bar.bounding_box()
        assert box is not None
        assert box["width"] >= 60
        assert box["x"] + box["width"] <= width
    expect(page.get_by_text("7.200× the best")).to_be_visible()
    expect(page.get_by_text("124.6–125.4 µs", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    wrap = "element => element.scrollWidth - element.clientWidth"
    assert page.locator(".table-wrap").first.evaluate(wrap) <= 0


def test_it_works_without_scripts(browser_without_scripts: Page, served: Served) -> None:
    page = browser_without_scripts
    _sign_up(page, served)
    page.get_by_role("textbox", name="Source").fill(SOURCE)
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_text("In the queue")).to_be_visible()
    served.site.work(cases=accepted("n-1"))
    expect(page.get_by_role("heading", name="Accepted")).to_be_visible()


@pytest.fixture
def browser_without_scripts(context: BrowserContext) -> Page:
    assert context.browser is not None
    return context.browser.new_context(java_script_enabled=False).new_page()
