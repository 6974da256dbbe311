"""The list of one's submissions: filters in the URL, scores and changes, and the history of a challenge."""

from __future__ import annotations

import re

import pytest

from judge.judgement import CaseJudgement, MemoryFault, RacingAccess
from judge.verdict import Verdict
from tests.web_site import KERNEL, Site, accepted, post, timed, wrong

JSON = {"Accept": "application/json"}


def _send(site: Site, slug: str = "vector-add", mode: str = "submit") -> str:
    page = f"/challenges/{slug}"
    data = {"source": KERNEL, "device": "emulator", "mode": mode}
    answer = post(site.visitor(), f"{page}/submissions", data, page=page, headers=JSON)
    return str(answer.get_json()["id"])


def _rows(site: Site, query: str = "") -> list[str]:
    page = site.visitor().get(f"/submissions{query}").text
    return re.findall(r'<tr class="linked">.*?</tr>', page, re.DOTALL)


@pytest.fixture
def sent(site: Site) -> Site:
    """Two times of vector-add, a wrong answer, and one for another challenge."""
    for value in (4e-5, 3e-5):
        _send(site)
        site.work(cases=accepted("n-1"), measurement=timed(value))
    _send(site)
    site.work(cases=(wrong(),))
    _send(site, "transpose")
    site.work(cases=accepted("n-1"), measurement=timed(1e-5))
    return site


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 4),
        ("?challenge=vector-add", 3),
        ("?verdict=WA", 1),
        ("?challenge=transpose&verdict=WA", 0),
        ("?device=emulator&verdict=AC", 3),
        ("?device=nvidia-h200", 0),
    ],
)
def test_filters_are_in_the_address(sent: Site, query: str, count: int) -> None:
    assert len(_rows(sent, query)) == count
    if not count:
        assert "None of your submissions match" in sent.visitor().get(f"/submissions{query}").text


def test_each_score_is_compared_with_the_best_before_it(sent: Site) -> None:
    newest, wrong_one, second, first = _rows(sent)
    assert "30.0 µs" in second
    assert '<b class="improved">−25.0 %</b>' in second
    assert "improved" not in first
    assert "improved" not in newest
    assert "µs" not in wrong_one


def test_a_challenge_shows_the_history_with_a_table_behind_the_picture(sent: Site) -> None:
    page = sent.visitor().get("/submissions?challenge=vector-add").text
    assert "2 times, the best 30.0 µs" in page
    assert 'class="best"' in page
    assert re.findall(r'<td class="number">(\d\d\.\d+ µs)</td></tr>', page) == ["30.00 µs", "40.00 µs"]
    assert "Your times on" not in sent.visitor().get("/submissions?challenge=transpose").text
    assert "Your times on" not in sent.visitor().get("/submissions").text


def test_a_race_is_one_sentence_with_its_lines_and_what_to_do(site: Site) -> None:
    public_id = _send(site, mode="run")
    long = "race on shared memory at kernel.cu:8 in thread (31, 0, 0) of block (0, 0, 0): it reads, and so on"
    race = MemoryFault(
        "race on shared memory",
        long,
        "sum",
        "kernel.cu",
        8,
        (31, 0, 0),
        (0, 0, 0),
        RacingAccess("kernel.cu", 11, (32, 0, 0), (0, 0, 0), is_write=True),
    )
    message = f"C[0] is 1.0, expected 2.0 in another order of warps: {long}"
    site.work(cases=(CaseJudgement("n-1", "sample", Verdict.WRONG_ANSWER, 0.1, message, None, (race,)),))
    page = site.visitor().get(f"/submissions/{public_id}/report").text
    assert ">Race on shared memory, lines 8 and 11: add __syncthreads() between them.</p>" in page
