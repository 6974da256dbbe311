"""Times of libraries on boards, on submissions' pages and in the API: without a rank, with a ratio and its interval."""

from __future__ import annotations

import pytest

from judge.bench.library.record import LibraryTime
from store.boards.libraries import boards_with_times, library_times, record_library_times
from tests.integration.web.test_trusted_times import enter
from tests.web_site import H200, Site, trusted

BOARD_PAGE = "/leaderboards/vector-add?device=nvidia-h200"
FAST = LibraryTime("fast", "cuFast", "TF32 off", 2.50e-4, 2.45e-4, 2.55e-4, versions={"torch": "2.11.0"})
SLOW = LibraryTime("slow", "PyTorch eager", "", 5.00e-4, 4.9e-4, 5.1e-4)
WRONG = LibraryTime(
    "wrong", "cuWrong", "", problem="the baseline wrong of vector-add is refused: wrong in the case one"
)


@pytest.fixture
def gpu_site(site: Site) -> Site:
    site.add_device(H200)
    return site


def record(site: Site, *times: LibraryTime, holds_for: str = "a") -> None:
    with site.database() as session:
        now = site.services.clock()
        record_library_times(session, "vector-add", H200.key, 1, times, holds_for=holds_for, now=now)


def test_a_board_shows_libraries_without_a_rank(gpu_site: Site) -> None:
    enter(gpu_site, "ada", trusted(1.25e-4, 4e-7))
    record(gpu_site, SLOW, FAST, WRONG)
    page = gpu_site.app.test_client().get(BOARD_PAGE).text
    ranked = page.split('<table class="board">')[1].split("</table>")[0]
    assert "2.00× cuFast (1.95 to 2.05)" in ranked, "an entry is held against the fastest library"
    assert ranked.count("<tr") == 2, "a head and one entry"
    panel = page.split('id="libraries"')[1].split("</section>")[0]
    assert panel.index("cuFast") < panel.index("PyTorch eager")
    for text in ("TF32 off", "250.0 µs", "245.0 µs to 255.0 µs", "4.00× PyTorch eager", "torch 2.11.0"):
        assert text in panel, text
    assert "cuWrong" not in page, "what is wrong by the pack's tolerance has no time"


def test_an_empty_board_shows_libraries_too(gpu_site: Site) -> None:
    record(gpu_site, FAST)
    panel = gpu_site.app.test_client().get(BOARD_PAGE).text.split('id="libraries"')[1]
    assert "250.0 µs" in panel


def test_a_board_of_modelled_times_has_no_library(gpu_site: Site) -> None:
    record(gpu_site, FAST)
    page = gpu_site.app.test_client().get("/leaderboards/vector-add?device=emulator").text
    assert 'id="libraries"' not in page


def test_a_submission_says_how_many_times_as_fast_it_is(gpu_site: Site) -> None:
    public_id = enter(gpu_site, "ada", trusted(1.25e-4, 4e-7))
    record(gpu_site, FAST)
    page = gpu_site.visitor("ada").get(f"/submissions/{public_id}").text
    assert "2.00×" in page
    assert "as fast: 1.95 to 2.05" in page


def test_the_api_has_libraries_and_ratios(gpu_site: Site) -> None:
    public_id = enter(gpu_site, "ada", trusted(1.25e-4, 4e-7))
    record(gpu_site, SLOW, FAST)
    client = gpu_site.app.test_client()
    board = client.get("/api/v1/leaderboards/vector-add?device=nvidia-h200").json
    assert board is not None
    assert [each["library"] for each in board["libraries"]] == ["cuFast", "PyTorch eager"]
    assert board["libraries"][0]["versions"] == {"torch": "2.11.0"}
    assert board["no_library"] is None
    assert board["entries"][0]["library"] == {
        "name": "fast", "library": "cuFast", "times_as_fast": pytest.approx(2.0),
        "low": pytest.approx(2.45 / 1.254), "high": pytest.approx(2.55 / 1.246),
    }  # fmt: skip
    shown = client.get(
        f"/api/v1/submissions/{public_id}", headers={"Authorization": f"Bearer {gpu_site.token_of('ada')}"}
    ).json
    assert shown is not None
    assert [each["library"] for each in shown["libraries"]] == ["cuFast", "PyTorch eager"]
    empty = client.get("/api/v1/leaderboards/vector-add?device=emulator").json
    assert empty is not None
    assert empty["libraries"] == []


def test_new_times_replace_old_ones_and_say_what_they_hold_for(gpu_site: Site) -> None:
    enter(gpu_site, "ada", trusted(1.25e-4, 4e-7))
    with gpu_site.database() as session:
        assert boards_with_times(session, H200.key) == {("vector-add", 1): None}
    record(gpu_site, SLOW, FAST)
    record(gpu_site, FAST, holds_for="b")
    with gpu_site.database() as session:
        assert boards_with_times(session, H200.key) == {("vector-add", 1): "b"}
        assert library_times(session, "vector-add", H200.key, 1) == (FAST,)
