from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from judge.judgement import CaseJudgement, Mismatch, ShownArray
from judge.verdict import Verdict
from tests.integration.web.test_api import BODY, Caller
from tests.web_site import KERNEL, Site, post

PAGE = "/challenges/vector-add"
JSON = {"Accept": "application/json"}


def _run(site: Site, mode: str = "run", **fields: str) -> Any:
    data = {"source": KERNEL, "device": "emulator", "mode": mode, **fields}
    return post(site.visitor(), f"{PAGE}/submissions", data, page=PAGE, headers=JSON)


def test_the_form_sends_an_input_of_ones_own(site: Site) -> None:
    answer = _run(site, on="custom", **{"input.N": " 3 ", "input.A": "1 2 3", "input.B": ""})
    assert site.submission(answer.get_json()["id"]).custom_input == {"N": "3", "A": "1 2 3"}


def test_fields_that_are_filled_in_count_only_where_they_are_asked_for(site: Site) -> None:
    for mode, on in (("run", "public"), ("submit", "custom")):
        answer = _run(site, mode, on=on, **{"input.N": "3"})
        assert site.submission(answer.get_json()["id"]).custom_input is None


def test_a_wrong_input_is_told_at_its_field(site: Site) -> None:
    answer = _run(site, on="custom", **{"input.N": "-3", "input.A": "nan"})
    assert answer.status_code == 422
    assert answer.get_json()["fields"] == {"input.N": "must be from 1 to 100,000,000, not -3"}
    answer = _run(site, on="custom", **{"input.N": "1", "input.A": "nan"})
    assert [*answer.get_json()["fields"]] == ["input.A"]


def test_the_page_has_a_field_for_each_size_and_array(site: Site) -> None:
    page = site.visitor().get(PAGE).text
    for name in ("N", "A", "B"):
        assert f'name="input.{name}"' in page
    assert 'placeholder="uniform -1000 1000"' in page


def test_the_report_shows_the_answer_of_the_reference_beside_the_kernels(site: Site) -> None:
    public_id = _run(site, on="custom", **{"input.N": "2"}).get_json()["id"]
    case = CaseJudgement(
        "your-input",
        "custom",
        Verdict.WRONG_ANSWER,
        0.1,
        "C[1] is 9.0",
        Mismatch("C", ((1,),), (4.0,), (9.0,), 1, 2, 5.0, 1.25),
        shown=(
            ShownArray("A", "input", (2,), (1.0, 2.0)),
            ShownArray("C", "expected", (2, 2), (2.5, 4.0, 1.0, 1.0), ("09", "00"), 1.0, 4.0),
            ShownArray("C", "got", (2, 2), (2.5, 9.0, 1.0, 1.0), ("09", "00"), 1.0, 9.0),
        ),
    )
    site.work(cases=(case,))
    page = site.visitor().get(f"/submissions/{public_id}/report").text
    assert "This was a run on your own input" in page
    assert "<code>N = 2</code>" in page
    assert '2.5 <b class="got">9</b> 1 1' in page
    assert page.count('<svg class="picture"') == 2


def test_what_an_accepted_case_got_is_not_marked(site: Site) -> None:
    public_id = _run(site).get_json()["id"]
    shown = (ShownArray("C", "expected", (1,), (1.0,)), ShownArray("C", "got", (1,), (1.01,)))
    case = dataclasses.replace(CaseJudgement("n-1", "sample", Verdict.ACCEPTED, 0.1), shown=shown)
    site.work(cases=(case,))
    page = site.visitor().get(f"/submissions/{public_id}/report").text
    assert "1.01" in page
    assert 'class="got">1.01' not in page


def test_the_api_takes_an_input(site: Site) -> None:
    caller = Caller(site)
    made = caller.post("submissions", {**BODY, "mode": "run", "input": {"N": "3"}})
    assert (made.status_code, made.get_json()["input"]) == (201, {"N": "3"})
    assert caller.post("submissions", {**BODY, "mode": "run"}).get_json()["input"] is None


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"input": {"N": "0"}}, {"input.N"}),
        ({"input": {"N": "3", "Q": "3"}}, {"input.Q"}),
        ({"input": {"N": "3"}, "mode": "submit"}, {"input"}),
        ({"input": {"N": 3}}, {"input.N"}),
    ],
)
def test_the_api_tells_what_is_wrong_with_an_input(site: Site, change: dict[str, Any], fields: set[str]) -> None:
    answer = Caller(site).post("submissions", {**BODY, "mode": "run", **change})
    assert answer.status_code == 422
    assert {*answer.get_json()["fields"]} == fields


def test_a_key_belongs_to_one_input(site: Site) -> None:
    caller = Caller(site)
    key = {"Idempotency-Key": "k"}
    first = caller.post("submissions", {**BODY, "mode": "run", "input": {"N": "3"}}, **key)
    again = caller.post("submissions", {**BODY, "mode": "run", "input": {"N": "3"}}, **key)
    other = caller.post("submissions", {**BODY, "mode": "run", "input": {"N": "4"}}, **key)
    assert first.get_json()["id"] == again.get_json()["id"]
    assert other.status_code == 409
