"""Judges plain C++ submissions on the host device, in the real jail, with the real supervisor and a small pack."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from judge.backends.sessions import sessions_for
from judge.judgement import CaseJudgement
from judge.packs.pack import Case, Pack
from judge.settings import JudgeSettings, RunLimits
from judge.supervisor.case_runner import CaseRunner
from judge.supervisor.factory import SessionFactory
from judge.supervisor.session import Bounds
from tests.host_device.backend import HostBackend
from tests.host_device.submissions import DEVICE, EMPTY, HONEST, build, pack_like_twice, twice_pack

__all__ = [
    "DEVICE", "EMPTY", "HONEST", "build", "host_factory", "judge_on_host", "pack_like_twice", "twice_pack",
]  # fmt: skip


def host_factory(
    settings: JudgeSettings,
    cases: Sequence[Case],
    *,
    call_s: float = 2.0,
    start_s: float = 20.0,
    total_s: float = 60.0,
    pack: Pack | None = None,
) -> SessionFactory:
    """Sessions on the host device, for the pack that doubles unless another is given."""
    made = sessions_for(HostBackend(), pack or twice_pack(), cases, DEVICE, settings)
    return dataclasses.replace(made, bounds=Bounds(start_s, call_s, total_s, settings.run.output_bytes))


def judge_on_host(source: str, settings: JudgeSettings | None = None, *, call_s: float = 2.0) -> list[CaseJudgement]:
    """The judgement of each case that was judged."""
    settings = settings or JudgeSettings(data_dir=Path("/nonexistent"), run=RunLimits(memory_bytes=512 << 20))
    pack = twice_pack()
    case_runner = CaseRunner(host_factory(settings, pack.cases, call_s=call_s), pack, build(source), seed=7)
    try:
        return [answer.judgement for answer in case_runner.judge_cases(pack.cases)]
    finally:
        case_runner.close()
