"""Wrong answers are called imprecise where rounding may be all, and what earlier calls left behind is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import numpy as np
import pytest

from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import MemoryFault, Mismatch, RacingAccess
from judge.packs.errors import PackError
from judge.packs.pack import Case
from judge.supervisor import explainer as explainer_module
from judge.supervisor.case_preparer import PreparedCase
from judge.supervisor.explainer import LEFT_BEHIND, TOO_LARGE, Caller, Explainer
from judge.supervisor.layout import Array
from judge.supervisor.session import CallRecord
from judge.supervisor.verdict_rules import Outcome
from judge.verdict import Verdict
from judge.wire.messages import FetchReply, RunReply
from tests.host_device.judging import twice_pack

PLAIN = Mismatch("output", ((0,),), (1.0,), (2.0,), 1, 1, 1.0, 1.0, "output[0] is 2.0, expected 1.0")
SMALL = Mismatch(
    "output", ((0,),), (1.0,), (1.001,), 1, 1, 1e-3, 1e-3,
    "imprecise: largest error 9 times the allowed one; output[0] is 1.001, expected 1.0", imprecise=9.0,
)  # fmt: skip


def _explain(*mismatches: Mismatch) -> list[Outcome]:
    artifact = Mock(Artifact, library=b"", file_name="kernel.cu", call_lines=(), target=Mock(Target))
    pack = twice_pack()
    explainer = Explainer(Mock(), pack, artifact, "", 7, has_checks=False)
    prepared = Mock(PreparedCase, case=pack.cases[0])
    outputs: dict[str, Array] = {"output": np.zeros(1, np.float32)}
    return [
        explainer.explain(prepared, Outcome(Verdict.WRONG_ANSWER, each.message, each), outputs, 0.1)
        for each in mismatches
    ]


def test_small_errors_alone_are_imprecise() -> None:
    assert [each.message for each in _explain(SMALL, SMALL)] == [SMALL.message] * 2


def test_small_errors_after_large_ones_are_not_imprecise() -> None:
    _, small = _explain(PLAIN, SMALL)
    assert small.message == "output[0] is 1.001, expected 1.0"
    assert small.mismatch is not None
    assert (small.mismatch.imprecise, small.mismatch.message) == (None, small.message)


def test_code_of_less_precision_is_named_whatever_else_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    causes = ("its factors are rounded to TF32 (line 3)",)
    monkeypatch.setattr(explainer_module, "precision", lambda *_given, **_named: causes)
    _, small = _explain(PLAIN, SMALL)
    assert small.message == SMALL.message


def test_a_mistake_that_the_pack_recognizes_comes_first_unless_roundings_explain_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explainer_module, "mistake_in", lambda *_given: "the factor seems to be 4")
    small, plain = _explain(SMALL, PLAIN)
    assert small.message == SMALL.message
    assert plain.message == f"the factor seems to be 4; {PLAIN.message}"


def test_a_mistake_that_fails_changes_nothing_and_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mistake = Mock(side_effect=PackError(Path("reference.py"), "mistake", "takes longer than 60 s"))
    monkeypatch.setattr(explainer_module, "mistake_in", mistake)
    assert [each.message for each in _explain(PLAIN, PLAIN)] == [PLAIN.message] * 2
    assert mistake.call_count == 1


class _Caller:
    """A caller of a submission that is right in the first calls of its first ``orders`` further processes alone."""

    def __init__(self, orders: int) -> None:
        self.calls, self._processes, self._orders = 2, 0, orders

    def end_session(self) -> None:
        self.calls, self._processes = 0, self._processes + 1

    def is_small(self, case: Case) -> bool:
        return case.id == ""

    def call(self, *_given: object) -> tuple[CallRecord, dict[str, Array], str]:
        self.calls += 1
        answer = 1.0 if self.calls == 1 and self._processes <= self._orders else 2.0
        record = CallRecord(RunReply(0.0, 0, "", ""), FetchReply((0,), None), 0.0)
        return record, {"output": np.full(1, answer, np.float32)}, ""


@pytest.mark.parametrize("orders", [1, 2])
def test_what_earlier_calls_left_is_named_unless_the_order_decides(orders: int) -> None:
    artifact = Mock(Artifact, library=b"", file_name="kernel.cu", call_lines=(), target=Mock(Target))
    pack = twice_pack()
    caller = cast(Caller, _Caller(orders))
    explainer = Explainer(caller, pack, artifact, "", 7, has_checks=True)
    prepared = PreparedCase(pack.cases[0], {}, lambda outputs: PLAIN if outputs["output"][0] > 1 else None)
    wrong = Outcome(Verdict.WRONG_ANSWER, PLAIN.message, PLAIN)
    told = explainer.explain(prepared, wrong, {"output": np.full(1, 2.0, np.float32)}, 0.1).message
    assert told == (f"{LEFT_BEHIND}; {PLAIN.message}" if orders == 2 else PLAIN.message)


class _Racing:
    """A caller whose calls of changed kernels give the right answer, the first ``right`` times."""

    def __init__(self, right: int) -> None:
        self.calls, self._left, self._changed = 2, right, False

    def session(self) -> _Racing:
        return self

    def mutate(self, texts: Sequence[str]) -> None:
        self._changed = bool(texts)

    def end_session(self) -> None:
        self.calls = 0

    def is_small(self, _: Case) -> bool:
        return False

    def call(self, *_given: object) -> tuple[CallRecord, dict[str, Array], str]:
        self.calls += 1
        self._left -= self._changed
        answer = 1.0 if self._changed and self._left >= 0 else 2.0
        record = CallRecord(RunReply(0.0, 0, "", ""), FetchReply((0,), None), 0.0)
        return record, {"output": np.full(1, answer, np.float32)}, ""


@pytest.mark.parametrize(("right", "has_race", "is_told"), [(1, False, True), (1, True, False), (9, True, True)])
def test_a_start_is_blamed_beside_a_race_only_if_it_is_right_in_all_orders(
    right: int, has_race: bool, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explainer_module, "ptx_texts", lambda _: [""])
    monkeypatch.setattr(
        explainer_module, "blamed", lambda _texts, _own, is_right, _wording: "it starts at 0" * is_right(["changed"])
    )
    artifact = Mock(Artifact, library=b"", file_name="kernel.cu", call_lines=(), target=Mock(Target))
    pack = twice_pack()
    explainer = Explainer(cast(Caller, _Racing(right)), pack, artifact, "", 7, has_checks=True)
    prepared = PreparedCase(pack.cases[0], {}, lambda outputs: PLAIN if outputs["output"][0] > 1 else None)
    access = RacingAccess("kernel.cu", 2, (32, 0, 0), (0, 0, 0), is_write=True)
    race = MemoryFault("race on shared memory", "race", "k", "kernel.cu", 3, (0, 0, 0), (0, 0, 0), access)
    wrong = Outcome(Verdict.WRONG_ANSWER, PLAIN.message, PLAIN, (race,) if has_race else ())
    told = explainer.explain(prepared, wrong, {"output": np.full(1, 2.0, np.float32)}, 0.1).message
    assert told == (f"it starts at 0; {PLAIN.message}" if is_told else PLAIN.message)


class _Overflowing:
    """A caller of kernels that give no numbers where an input exceeds ``largest``."""

    def __init__(self, largest: float) -> None:
        self.calls, self._largest = 1, largest

    def end_session(self) -> None:
        self.calls = 0

    def is_small(self, _: Case) -> bool:
        return True

    def call(self, _case: Case, prepared: PreparedCase, *_given: object) -> tuple[CallRecord, dict[str, Array], str]:
        values = prepared.inputs["input"]
        answer = 2 * values if values.max() <= self._largest else np.full_like(values, np.nan)
        return CallRecord(RunReply(0.0, 0, "", ""), FetchReply((0,), None), 0.0), {"output": answer}, ""


@pytest.mark.parametrize(("largest", "got", "is_told"), [(1.0, "nan", True), (1.0, 0.5, False), (0.25, "nan", False)])
def test_what_is_right_with_smaller_inputs_is_too_large(
    largest: float, got: float | str, is_told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explainer_module, "ptx_texts", lambda _: ["ex2.approx.ftz.f32 %f1, %f2;"])
    artifact = Mock(Artifact, library=b"", file_name="kernel.cu", call_lines=(), target=Mock(Target))
    pack = twice_pack()
    explainer = Explainer(cast(Caller, _Overflowing(largest)), pack, artifact, "", 7, has_checks=True)
    case = next(each for each in pack.cases if each.axes["N"] == 5)
    values = np.array([90.0, 1.0, -3.0, 0.5, 89.0], np.float32)
    prepared = PreparedCase(case, {"input": values, "N": np.int32(5)}, lambda _: PLAIN)
    message = "output[0] is nan, expected 180.0"
    mismatch = Mismatch("output", ((0,),), (180.0,), (got,), 1, 5, None, None, message)
    wrong = Outcome(Verdict.WRONG_ANSWER, message, mismatch)
    # Quick enough for one more call, and too slow for as many as there are sizes.
    told = explainer.explain(prepared, wrong, {"output": np.full(5, np.nan, np.float32)}, 0.5).message
    assert told == (
        f"{TOO_LARGE} (in single precision e^x overflows above x = 88.7); {message}" if is_told else message
    )
