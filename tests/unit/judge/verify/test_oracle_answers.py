"""Verification reports an oracle that refuses right outputs, accepts wrong ones, or cannot compute the pack."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.bench.oracle.questions import Question
from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import make_inputs
from judge.packs.judging import check_outputs
from judge.packs.pack import Pack
from judge.packs.sizes import case_bytes
from judge.verify.findings import Severity
from judge.verify.oracle_answers import check_oracle
from judge.verify.prepared import SEED
from tests.builds import ROOT

PACK = load_pack(ROOT / "challenges" / "matvec")
FUNCTIONAL = [case.id for case in PACK.cases_for("cuda") if case.group != "benchmark"]
assert all(case_bytes(PACK, case) < 32 << 20 for case in PACK.cases_for("cuda") if case.group != "benchmark")


class FakeOracle:
    """Answers as ``says`` does, until it has the ``problem`` after as many questions as ``after``."""

    def __init__(self, says: Callable[[Question], bool], problem: str = "", after: int = 0) -> None:
        self._says = says
        self._later, self._after = problem, after
        self.problem = problem if after == 0 else ""
        self.asked: list[str] = []

    def settle(self, within_s: float) -> None:
        assert within_s > 0

    def agrees(self, question: Question) -> bool:
        self.asked.append(question.case.id)
        if self._later and len(self.asked) > self._after:
            self.problem = self._later
            return False
        return self._says(question)


def as_numpy(question: Question) -> bool:
    inputs = make_inputs(PACK, question.case, SEED)
    return check_outputs(PACK, question.case, inputs, question.outputs) is None


@pytest.fixture(autouse=True)
def small_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.verify.oracle_answers._BENCHMARK_BYTES", 1 << 20)


def found(oracle: FakeOracle, pack: Pack = PACK) -> list[tuple[str, Severity]]:
    return [(finding.code, finding.severity) for finding in check_oracle(pack, oracle)]


def test_one_that_says_what_numpy_says_is_in_order() -> None:
    oracle = FakeOracle(as_numpy)
    assert found(oracle) == []
    assert set(FUNCTIONAL) <= set(oracle.asked)
    assert len(oracle.asked) == len(FUNCTIONAL) + 3, "three of them with a change"


def test_one_that_refuses_costs_time_and_no_verdict() -> None:
    assert found(FakeOracle(lambda _: False)) == [("oracle-refuses", Severity.WARNING)] * len(FUNCTIONAL)


def test_one_that_accepts_a_changed_output_is_an_error() -> None:
    assert found(FakeOracle(lambda _: True)) == [("oracle-accepts", Severity.ERROR)] * 3


@pytest.mark.parametrize("after", [0, 1, 5])
def test_one_that_cannot_compute_the_pack_is_a_note(after: int) -> None:
    oracle = FakeOracle(as_numpy, "AttributeError: no such function", after)
    assert found(oracle) == [("oracle", Severity.NOTE)]
    assert len(oracle.asked) == after + (after > 0)


def test_the_smallest_benchmark_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    smallest = min(PACK.benchmarks_for("emulator"), key=lambda case: case_bytes(PACK, case))
    monkeypatch.setattr(Pack, "benchmarks_for", lambda *_: (smallest,))
    monkeypatch.setattr("judge.verify.oracle_answers._BENCHMARK_BYTES", 1 << 30)
    oracle = FakeOracle(as_numpy)
    assert found(oracle) == []
    assert oracle.asked[-1] == smallest.id
