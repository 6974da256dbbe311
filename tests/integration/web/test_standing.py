"""Where a submission stands: its place, what changed, and the pictures."""

from __future__ import annotations

import re

from tests.web_site import KERNEL, Site, accepted, post, timed

PAGE = "/challenges/vector-add"
JSON = {"Accept": "application/json"}


def _timed(site: Site, username: str, value: float) -> str:
    data = {"source": KERNEL, "device": "emulator", "mode": "submit"}
    answer = post(site.visitor(username), f"{PAGE}/submissions", data, page=PAGE, headers=JSON)
    site.work(cases=accepted("n-1"), measurement=timed(value))
    return str(answer.get_json()["id"])


def _standing(site: Site, username: str, public_id: str) -> str:
    page = site.visitor(username).get(f"/submissions/{public_id}").text
    found = re.findall(r'<section class="panel outcome.*?</section>', page, re.DOTALL)
    return "".join(
        found + re.findall(r'<section class="panel"[^>]* aria-labelledby="standing">.*?</section>', page, re.DOTALL)
    )


def test_the_first_one_is_the_best_and_has_nothing_to_compare(site: Site) -> None:
    shown = _standing(site, "ada", _timed(site, "ada", 2e-5))
    assert "1 of 1" in shown
    assert "The best on this board." in shown
    assert "<svg" not in shown


def test_place_change_and_distance_to_the_best(site: Site) -> None:
    for number in range(5):
        _timed(site, f"user{number}", 1e-5 * (number + 1))
    first = _timed(site, "ada", 4.5e-5)
    second = _timed(site, "ada", 1.5e-5)
    third = _timed(site, "ada", 3e-5)
    shown = _standing(site, "ada", second)
    assert "2 of 6" in shown
    assert "50 % slower than the best, faster than 80 % of the others." in shown
    assert "3.00× faster than your best before." in shown
    assert "this one, 15.0 µs" in shown
    assert shown.count('class="current"') == 1
    assert "2.00× your best." in _standing(site, "ada", third)
    assert "your best" not in _standing(site, "ada", first)


def test_what_is_on_no_board_stands_nowhere(site: Site) -> None:
    data = {"source": KERNEL, "device": "emulator", "mode": "run"}
    ada = site.visitor()
    public_id = post(ada, f"{PAGE}/submissions", data, page=PAGE, headers=JSON).get_json()["id"]
    site.work(cases=accepted("n-1"))
    page = ada.get(f"/submissions/{public_id}").text
    assert "<dt>place</dt>" not in page
    assert "Beside other times" not in page
