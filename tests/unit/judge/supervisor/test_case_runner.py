"""Cases are judged with checks where that is possible."""

from __future__ import annotations

import dataclasses
import signal
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest

from emulator.wording import TRITON
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import Mismatch
from judge.packs.pack import Case
from judge.sandbox.launch import JailExit
from judge.supervisor import case_report
from judge.supervisor.case_preparer import CasePreparer, PreparedCase
from judge.supervisor.case_runner import CaseRunner
from judge.supervisor.process import Ending, RequestRefused, RunnerEnded
from judge.supervisor.session import Bounds, CallRecord
from judge.verdict import Verdict
from judge.wire.frames import Failure, Op
from judge.wire.messages import (
    CallClaim,
    FailedReply,
    FaultClaim,
    FetchReply,
    PartyClaim,
    ReportClaim,
    RunReply,
    Watch,
)
from tests.host_device.judging import twice_pack


def test_the_answers_of_public_cases_alone_are_kept_to_be_shown() -> None:
    with CasePreparer(twice_pack(), 7, twice_pack().cases) as preparer:
        for case in twice_pack().cases:
            prepared = preparer.take()
            shown = case_report.shown_arrays(twice_pack(), prepared, {"output": prepared.inputs["input"]})
            assert [(array.name, array.role) for array in shown] == (
                [("input", "input"), ("N", "input"), ("output", "expected"), ("output", "got")]
                if case.is_public
                else []
            )


@pytest.mark.parametrize(
    ("got", "launches", "hint"),
    [
        ([0.0, 0.0], 0, "all of out is 0: was the kernel launched?"),
        ([0.0], 0, "it is also 0 if no kernel was launched"),
        ([0.0, 1.0], 0, ""),
        ([0.0, 0.0], 1, ""),
        ([0.0, 0.0], None, ""),
    ],
)
def test_an_output_of_zeros_may_be_one_that_no_kernel_wrote(got: list[float], launches: int | None, hint: str) -> None:
    wrong = Mismatch("out", ((0,),), (2.0,), (0.0,), 1, len(got), 2.0, 1.0, "out[0] is 0.0, expected 2.0")
    found = case_report.first_mismatch(lambda _outputs: wrong, {"out": np.array(got)}, launches)
    assert found is not None
    assert found.message == wrong.message + (f"; {hint} (cudaGetLastError() tells)" if hint else "")
    in_triton = case_report.first_mismatch(lambda _outputs: wrong, {"out": np.array(got)}, launches, TRITON)
    assert in_triton is not None
    assert in_triton.message == found.message.replace("cudaGetLastError() tells", "look at its grid")


@pytest.mark.parametrize("how", ["its kernel was stopped", "its runner was ended", "it had no memory"])
def test_a_case_that_its_checks_make_too_slow_is_judged_without_them(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a new session: the device on which a kernel was stopped makes no more calls."""
    events: list[str] = []

    def call(
        _runner: CaseRunner, _case: Case, prepared: PreparedCase, watch: Watch
    ) -> tuple[CallRecord, dict[str, Any], str]:
        events.append(f"call {watch!r}")
        ran = RunReply(0.1, 0, "", "")
        if Watch.CHECKS in watch and how == "its runner was ended":
            exit_ = cast(JailExit, SimpleNamespace(jail_lost=False))
            raise RunnerEnded(Ending(Op.RUN, "", flooded=False, timed_out=True, exit=exit_, output=""))
        if Watch.CHECKS in watch:
            name = "cudaErrorLaunchTimeout" if how == "its kernel was stopped" else "cudaErrorMemoryAllocation"
            ran = RunReply(0.1, 702, name, "")
        limit = {"cudaErrorLaunchTimeout": "time", "cudaErrorMemoryAllocation": "memory"}.get(ran.name, "")
        fetched = FetchReply((0,) * 3, ReportClaim(limit=limit))
        outputs = prepared.inputs["input"] * (1 if limit else 2)
        return CallRecord(ran, fetched, 0.1), {"output": outputs}, ""

    monkeypatch.setattr(CaseRunner, "call", call)
    monkeypatch.setattr(CaseRunner, "end_session", lambda _runner: events.append("new session"))
    factory = Mock(has_checks=True, bounds=Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1))
    factory.start.return_value.runner.flooded = False
    runner = CaseRunner(factory, twice_pack(), Artifact(b"", Target("cuda", "sm_90")), 7)
    [judged] = runner.judge_cases(twice_pack().cases[:1])
    assert judged.judgement.verdict is Verdict.ACCEPTED, judged
    assert events == [f"call {Watch.CHECKS!r}", "new session", f"call {Watch.RUNS_AHEAD!r}"]
    assert not runner.exhausted


_FIRST = (0, 0, 0)
RACE = FaultClaim(
    "race on shared memory", False, "a race", "add", "kernel.cu", 3, _FIRST, _FIRST,
    other=PartyClaim("kernel.cu", 2, (40, 0, 0), _FIRST, is_write=True),
)  # fmt: skip
STRAY = FaultClaim("illegal write", True, "a stray write", "add", "kernel.cu", 5, _FIRST, _FIRST)
STOPPED = ReportClaim(faults=(RACE, STRAY))
NO_MEMORY = CallClaim("cudaMalloc", "cudaErrorMemoryAllocation")


def _ended(*, timed_out: bool = False, code: int | None = None, number: int | None = None) -> RunnerEnded:
    exit_ = JailExit(code, number, 1.0, None, None, oom_killed=False, killed=timed_out)
    return RunnerEnded(Ending(Op.RUN, "", flooded=False, timed_out=timed_out, exit=exit_, output=""))


@pytest.mark.parametrize(
    ("further", "verdict", "message"),
    [
        (ReportClaim(), Verdict.ACCEPTED, "a race"),
        (STOPPED, Verdict.RUNTIME_ERROR, "a stray write, in another order of warps: a race"),
        (ReportClaim(limit="wall"), Verdict.ACCEPTED, "a race"),
        (ReportClaim(unsupported="wgmma"), Verdict.ACCEPTED, "a race"),
        (dataclasses.replace(STOPPED, calls=(NO_MEMORY,)), Verdict.ACCEPTED, "a race"),
        (_ended(code=3), Verdict.RUNTIME_ERROR, "exit(3), in another order of warps: a race"),
        (_ended(timed_out=True), Verdict.ACCEPTED, "a race"),
        (_ended(number=signal.SIGKILL), Verdict.ACCEPTED, "a race"),
        (RequestRefused(FailedReply(Failure.MEMORY, 2, "cudaErrorMemoryAllocation", "")), Verdict.ACCEPTED, "a race"),
        (
            RequestRefused(FailedReply(Failure.CUDA, 700, "cudaErrorIllegalAddress", "illegal")),
            Verdict.RUNTIME_ERROR,
            ", in another order of warps: a race",
        ),
    ],
    ids=(
        "right", "stray write", "endless", "unsupported", "stray write without memory", "exit", "hangs", "killed",
        "no memory for it", "refused",
    ),
)  # fmt: skip
def test_how_another_order_of_a_race_ends_decides_unless_further_calls_cause_that(
    further: ReportClaim | RunnerEnded | RequestRefused,
    verdict: Verdict,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Watch] = []

    def call(
        _runner: CaseRunner, _case: Case, prepared: PreparedCase, watch: Watch
    ) -> tuple[CallRecord, dict[str, Any], str]:
        calls.append(watch)
        report = ReportClaim(faults=(RACE,)) if len(calls) == 1 else further
        if not isinstance(report, ReportClaim):
            raise report
        ran = RunReply(0.1, 700, "cudaErrorIllegalAddress", "") if STRAY in report.faults else RunReply(0.1, 0, "", "")
        return CallRecord(ran, FetchReply((0,) * 3, report), 0.1), {"output": prepared.inputs["input"] * 2}, ""

    monkeypatch.setattr(CaseRunner, "call", call)
    factory = Mock(has_checks=True, bounds=Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1))
    factory.start.return_value.runner.flooded = False
    factory.start.return_value.last_op = Op.RUN
    factory.start.return_value.calls = 3
    runner = CaseRunner(factory, twice_pack(), Artifact(b"", Target("cuda", "sm_90")), 7)
    [judged] = runner.judge_cases(twice_pack().cases[:1])
    assert judged.judgement.verdict is verdict, judged
    assert judged.judgement.message.endswith(message), judged
    assert len(calls) > 2 if further == ReportClaim() else len(calls) == 2
    assert judged.judgement.memory_errors[-1].message == "a race"
    assert not runner.exhausted
