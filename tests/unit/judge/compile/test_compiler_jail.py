"""Compilers that ran out of time through no fault of the source."""

from __future__ import annotations

import pytest

from judge.compile.compiler_jail import require_work
from judge.errors import InternalError
from judge.sandbox.launch import JailExit, Output


def _timed_out(cpu_s: float, *, starved: bool = False, idled: bool = False) -> Output:
    killed = JailExit(None, None, 61.0, cpu_s, 1, oom_killed=False, killed=True)
    return Output(b"", truncated=False, timed_out=True, exit=killed, starved=starved, idled=idled)


def test_a_compiler_that_waited_is_the_machines_fault() -> None:
    with pytest.raises(InternalError, match="computed for 2 s of 61 s and waited for the rest"):
        require_work(_timed_out(2.0, idled=True))
    with pytest.raises(InternalError, match="too busy"):
        require_work(_timed_out(2.0, starved=True, idled=True))


def test_a_compiler_that_worked_for_too_long_is_the_sources() -> None:
    require_work(_timed_out(58.0))
