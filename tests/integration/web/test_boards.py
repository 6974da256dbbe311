"""Boards beside their ranks: gaps, tries, one's own place, and how all times are spread."""

from __future__ import annotations

import re

import pytest

from judge.references import find_references
from tests.web_site import H200, KERNEL, Site, accepted, post, timed, wrong
from web.leaderboard.boards import gap

CHALLENGE = "/challenges/vector-add"
BOARD = "/leaderboards/vector-add"


def _enter(site: Site, username: str, value: float | None) -> None:
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    post(site.visitor(username), f"{CHALLENGE}/submissions", data, page=CHALLENGE)
    if value is None:
        site.work(cases=(wrong(),))
    else:
        site.work(cases=accepted("n-1"), measurement=timed(value))


@pytest.mark.parametrize(
    ("value", "told"), [(1.0, "best"), (0.9, "best"), (1.08, "+8.0 %"), (1.9999, "+100.0 %"), (3.2, "3.20×")]
)
def test_a_gap_is_a_share_or_a_multiple(value: float, told: str) -> None:
    assert gap(value, 1.0) == told


def test_each_entry_has_its_gap_and_its_tries(site: Site) -> None:
    _enter(site, "ada", 1e-5)
    for value in (4e-5, None, 1.5e-5):
        _enter(site, "bob", value)
    page = site.app.test_client().get(BOARD).text
    rows = [
        re.findall(r'<td class="number[^"]*">([^<]*)</td>', row) for row in re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    ]
    assert [row[-2:] for row in rows if row] == [["best", "1"], ["+50.0 %", "3"]]


def test_bars_of_modelled_times_tell_close_entries_apart(site: Site) -> None:
    for name, value in (("ada", 1e-5), ("bob", 1.02e-5), ("eve", 1e-3), ("fay", 1e-4)):
        _enter(site, name, value)
    page = site.app.test_client().get(BOARD).text
    widths = [float(width) for width in re.findall(r'class="fill" width="([\d.]+)%"', page)]
    assert widths[0] == 2.0
    assert widths[1] > widths[0]
    assert widths[2:] == [51.0, 100.0]


def test_one_s_own_place_stands_above_the_board(site: Site) -> None:
    _enter(site, "ada", 1e-5)
    _enter(site, "bob", 2e-5)
    _enter(site, "cy", 1e-5)
    assert "<b>Your place: 3 of 3.</b> 20.00 µs, 2.00× as long as the best." in site.visitor("bob").get(BOARD).text
    assert "<b>Your place: 1 of 3.</b> 10.00 µs." in site.visitor("cy").get(BOARD).text, "as good as the first"
    for client in (site.app.test_client(), site.visitor("eve")):
        assert "Your place" not in client.get(BOARD).text


def test_the_times_of_many_are_drawn_with_a_table_behind(site: Site) -> None:
    for number in range(5):
        page = site.visitor("user0").get(BOARD).text
        assert "As a table" not in page
        _enter(site, f"user{number}", 1e-5 * (number + 1))
    page = site.visitor("user3").get(BOARD).text
    assert "The best times of 5 people" in page
    assert "yours, 40.0 µs" in page
    table = re.search(r"Three quarters.*?</table>", page, re.DOTALL)
    assert table is not None
    assert re.findall(r"[\d.]+ µs", table[0]) == ["10.0 µs", "20.0 µs", "30.0 µs", "40.0 µs", "50.0 µs"]


def test_a_board_that_nobody_is_on_shows_our_kernels_without_a_rank(site: Site) -> None:
    site.add_device()
    site.add_device(H200)
    visitor = site.app.test_client()
    for device in ("emulator", H200.key):
        page = visitor.get(f"/leaderboards/vector-add?device={device}").text
        assert "Nobody is on this board yet" in page
        rows = re.findall(r"<tr><td>reference: .*?</tr>", page)
        assert rows, device
        assert all("µs" in row and " %" in row for row in rows), rows


def test_times_of_another_gpu_are_no_reference(site: Site) -> None:
    pack = site.services.all_packs["vector-add"]
    assert find_references(pack, "nvidia-h100", None) == ()
    assert find_references(pack, "emulator", "modelled_time_s/h100/1") == ()
    assert find_references(pack, H200.key, "time_s")
    assert all(each.share is None or 0 < each.share <= 1 for each in find_references(pack, "emulator", None))
