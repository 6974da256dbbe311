"""The page that compares two submissions."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.web_site import H200, Site, accepted, post, timed, wrong
from web.submissions.comparison import MOST_LINES, compare_sources

FIRST = "\n".join(f"int line{number};" for number in range(40)) + "\n// <b>old</b>\nlast\n"
SECOND = FIRST.replace("int line20;", "float line20;  ").replace("// <b>old</b>\n", "").replace("last", "last\nnew")


def send(site: Site, client: FlaskClient, source: str, value: float | None) -> str:
    data = {"source": source, "device": H200.key, "mode": "submit"}
    answer = post(client, "/challenges/vector-add/submissions", data, page="/challenges/vector-add")
    cases = accepted("n-1") if value else (wrong("n-1"),)
    site.work(device=H200, cases=cases, measurement=timed(value) if value else None)
    return str(answer.location).rsplit("/", 1)[1]


@pytest.fixture
def ada(site: Site) -> FlaskClient:
    site.add_device(H200)
    return site.visitor("ada")


def test_sources_and_figures_stand_side_by_side(site: Site, ada: FlaskClient) -> None:
    before, after = send(site, ada, FIRST, 2e-4), send(site, ada, SECOND, 1e-4)
    assert f'<option value="{before}">200 µs, submission, {H200.key}, ' in ada.get(f"/submissions/{after}").text
    text = ada.get(f"/submissions/{after}/compare?with={before}").text
    assert "<td>200.0 µs</td><td><b>100.0 µs</b></td>" in text
    assert "17 same lines" in text
    assert text.count('<tr class="changed">') == 1
    assert "&lt;b&gt;old" in text
    assert "<b>old" not in text
    same = ada.get(f"/submissions/{after}/compare?with={after}").text
    assert "They are the same, except for spaces" in same
    failed = send(site, ada, FIRST, None)
    assert "<td>WA</td>" in ada.get(f"/submissions/{after}/compare?with={failed}").text.replace("<b>WA</b>", "WA")


def test_the_best_are_offered_first_with_their_times(site: Site, ada: FlaskClient) -> None:
    slow, fast, failed = send(site, ada, FIRST, 3e-4), send(site, ada, SECOND, 1e-4), send(site, ada, FIRST, None)
    page = ada.get(f"/submissions/{send(site, ada, SECOND, 2e-4)}").text
    offered = re.findall(r'<option value="(\w+)">([^,]*), (\w+),', page)
    assert offered == [(fast, "100 µs", "submission"), (slow, "300 µs", "submission"), (failed, "WA", "submission")]


def test_others_submissions_cannot_be_compared(site: Site, ada: FlaskClient) -> None:
    mine = send(site, ada, FIRST, 2e-4)
    theirs = send(site, site.visitor("bob"), SECOND, 1e-4)
    assert ada.get(f"/submissions/{mine}/compare?with={theirs}").status_code == 404
    assert ada.get(f"/submissions/{theirs}/compare?with={mine}").status_code == 404
    assert ada.get(f"/submissions/{mine}/compare?with=nothing").status_code == 404
    assert ada.get(f"/submissions/{mine}/compare").status_code == 422


def test_rows_keep_their_numbers_and_long_sources_are_refused() -> None:
    rows = compare_sources("a\nb\nc\n", "a\nc\nd\n")
    assert rows is not None
    assert [(row.kind, row.left.number, row.right.number) for row in rows] == [
        ("same", 1, 1),
        ("removed", 2, None),
        ("same", 3, 2),
        ("added", None, 3),
    ]
    assert compare_sources("a  \n", "a\n") == []
    assert compare_sources("x\n" * (MOST_LINES + 1), "x\n") is None
