"""Which cases of exhaustive tests are run, and which tests may not be below tests/unit."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import gate, sampling
from tests.sampling import SHARE, Scope


def item(nodeid: str, *marks: str, **options: Any) -> Any:
    markers = {mark: SimpleNamespace(name=mark, kwargs=options) for mark in marks}
    return SimpleNamespace(
        nodeid=nodeid,
        path=Path("/checkout") / nodeid.partition("::")[0],
        iter_markers=lambda name=None: [each for each in markers.values() if name in (None, each.name)],
        get_closest_marker=markers.get,
    )


PLAIN = [item("a.py::test_plain"), item("a.py::test_of_two[1]"), item("a.py::test_of_two[2]")]
DRAWN = [item("a.py::test_drawn", "hypothesis")]
MANY = [item(f"a.py::test_many[{n}]", "exhaustive") for n in range(45)]
FEW = [item(f"b.py::test_few[{n}]", "exhaustive") for n in range(2)]
WHOLE = [item(f"c.py::test_{n}", "exhaustive") for n in range(11)]
LONG = [item(f"d.py::test_long[{n}]", "exhaustive", share=40) for n in range(45)]
FILE = [item(f"e.py::test_{n}[{case}]", "exhaustive", by_file=True) for n in range(3) for case in range(3)]
RECORDED = [item(f"f.py::test_known[{n}]", "exhaustive", "on_record") for n in range(20)]
EVERYTHING = [*PLAIN, *DRAWN, *MANY, *FEW, *WHOLE, *LONG, *FILE]


@pytest.fixture(autouse=True)
def _seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sampling.SEED, "1")


def run(scope: Scope) -> list[Any]:
    kept, left = sampling.select(EVERYTHING, scope)
    assert [one for one in EVERYTHING if one in kept] == kept
    assert {one.nodeid for one in kept} | {one.nodeid for one in left} == {one.nodeid for one in EVERYTHING}
    return kept


def test_a_sample_has_a_tenth_of_each_group_and_at_least_one_case() -> None:
    kept = run(Scope.SAMPLE)
    assert [one for one in kept if one in PLAIN + DRAWN] == PLAIN + DRAWN
    assert [sum(one in kept for one in group) for group in (MANY, FEW, WHOLE)] == [-(-45 // SHARE), 1, 2]
    assert [sum(one in kept for one in group) for group in (LONG, FILE)] == [2, 1]


def test_the_seed_decides_and_the_other_tests_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [one for one in run(Scope.SAMPLE) if one in MANY]
    assert [one for one in sampling.select(MANY, Scope.SAMPLE)[0] if one in MANY] == drawn
    monkeypatch.setenv(sampling.SEED, "2")
    assert [one for one in run(Scope.SAMPLE) if one in MANY] != drawn


def test_the_rest_is_what_a_sample_leaves_out_and_what_draws_examples() -> None:
    sample, rest = run(Scope.SAMPLE), run(Scope.REST)
    assert [one for one in EVERYTHING if one in sample or one in rest] == EVERYTHING
    assert [one for one in sample if one in rest] == DRAWN
    assert run(Scope.ALL) == EVERYTHING


def test_the_rest_leaves_out_what_is_on_record() -> None:
    everything = [*MANY, *RECORDED]
    sample, rest, all_ = (sampling.select(everything, scope)[0] for scope in (Scope.SAMPLE, Scope.REST, Scope.ALL))
    assert [sum(one in RECORDED for one in kept) for kept in (sample, rest, all_)] == [2, 0, 20]


def test_costly_cases_are_not_drawn() -> None:
    cheap = [item(f"g.py::test_{n}", "exhaustive", by_file=True) for n in range(2)]
    costly = [item(f"g.py::test_long_{n}", "exhaustive", by_file=True, costly=True) for n in range(30)]
    alone = [item(f"h.py::test_long_{n}", "exhaustive", costly=True) for n in range(12)]
    everything = [*costly, *cheap, *alone]
    sample, rest = (sampling.select(everything, scope)[0] for scope in (Scope.SAMPLE, Scope.REST))
    assert sample == cheap
    assert [one for one in everything if one in sample or one in rest] == everything


def test_a_case_may_be_costly_though_its_function_says_nothing_of_it() -> None:
    def case(number: int) -> Any:
        made = item(f"i.py::test_many[{number}]", "exhaustive")
        marks = [made.get_closest_marker("exhaustive")]
        if number:
            marks.append(SimpleNamespace(name="exhaustive", kwargs={"costly": True}))
        made.iter_markers = lambda _: marks
        return made

    cases = [case(number) for number in range(30)]
    assert sampling.select(cases, Scope.SAMPLE)[0] == cases[:1]


def test_nothing_is_left_out_of_what_is_named() -> None:
    def scope(*arguments: str, keyword: str = "", **options: bool) -> Scope:
        config = SimpleNamespace(
            args=list(arguments),
            option=SimpleNamespace(keyword=keyword),
            getoption=lambda name, default=False: options.get(name, default),
        )
        return sampling.scope_of(config)  # type: ignore[arg-type]

    assert scope("tests") is Scope.SAMPLE
    assert (
        scope("tests/a.py::test_many") is scope("tests", keyword="many") is scope("tests", exhaustive=True) is Scope.ALL
    )
    assert scope("tests", exhaustive=True, exhaustive_rest=True) is Scope.REST
    assert scope("tests", exhaustive_rest=True, lf=True) is scope("tests", lf=True) is Scope.ALL


def test_a_shuffle_keeps_files_together_and_follows_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    def order() -> list[str]:
        items = list(EVERYTHING)
        sampling.shuffle(items)
        assert sorted(one.nodeid for one in items) == sorted(one.nodeid for one in EVERYTHING)
        return list(dict.fromkeys(one.path.name for one in items))

    orders = set()
    for number in range(20):
        monkeypatch.setenv(sampling.SEED, str(number))
        assert order() == order()
        assert len(order()) == 5
        orders.add(tuple(order()))
    assert len(orders) > 10


def test_what_begins_after_the_seconds_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_ends_at", time.monotonic() + 1000)
    sampling.skip_if_late()
    monkeypatch.setattr(sampling, "_ends_at", time.monotonic() - 1)
    with pytest.raises(pytest.skip.Exception, match="at-most-seconds"):
        sampling.skip_if_late()


def test_a_process_that_starts_later_ends_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_scope", None)
    monkeypatch.setattr(sampling, "_ends_at", time.monotonic() - 1)
    given: dict[str, Any] = {}
    sampling.configure_process(given)
    option = SimpleNamespace(at_most_seconds=1000.0, keyword="")
    later: Any = SimpleNamespace(option=option, args=[], getoption=lambda *_, **__: False, workerinput=given)
    sampling.configure(later)
    with pytest.raises(pytest.skip.Exception, match="at-most-seconds"):
        sampling.skip_if_late()


def test_a_test_of_one_unit_may_need_no_service() -> None:
    items = [
        item("tests/unit/a.py::test_x", "nvcc", "jail"),
        item("tests/unit/a.py::test_y", "cxx"),
        item("tests/integration/a.py::test_z", "nvcc"),
    ]
    (only,) = gate.misplaced(items, Path("/checkout"))
    assert only.startswith("tests/unit/a.py::test_x needs jail, nvcc")
