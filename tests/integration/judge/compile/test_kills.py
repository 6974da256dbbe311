"""Compilers that somebody kills: the build is made again, never a compile error, and never kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.compile.diagnostics import says_killed
from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.errors import KilledFromOutside
from judge.settings import JudgeSettings
from tests.killer import Killer, named
from tests.unit.judge.compile.challenge import PLAIN, FakeChallenge

pytestmark = [pytest.mark.nvcc, pytest.mark.jail, pytest.mark.exhaustive(by_file=True)]

_CHALLENGE = FakeChallenge()


@pytest.mark.parametrize("victim", ["cudafe++", "cicc", "cc1plus", "ptxas", "sh", "bwrap"])
def test_a_compiler_that_is_killed_once_costs_only_time(victim: str, tmp_path: Path) -> None:
    # Some live so briefly that a busy machine's killer misses them.
    for attempt in range(20):
        settings = JudgeSettings(tmp_path / str(attempt))
        with Killer(lambda: named(victim), times=1) as killer:
            report, artifact = build_submission(PLAIN.encode(), _CHALLENGE, Target("emulator", "compute_80"), settings)
        assert report.ok, report.log
        assert artifact is not None
        if killer.killed:
            return
    pytest.fail(f"no {victim} was met")


def test_a_compiler_that_is_killed_every_time_is_the_judges_failure(tmp_path: Path) -> None:
    settings = JudgeSettings(tmp_path)
    with Killer(lambda: named("cicc"), times=1000), pytest.raises(KilledFromOutside):
        build_submission(PLAIN.encode(), _CHALLENGE, Target("emulator", "compute_80"), settings)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    report, _ = build_submission(PLAIN.encode(), _CHALLENGE, Target("emulator", "compute_80"), settings)
    assert report.ok, report.log
    assert not report.cached


def test_a_source_that_says_it_was_killed_is_a_compile_error(tmp_path: Path) -> None:
    lie = 'static_assert(false, "\\ng++: fatal error: Killed signal terminated program cc1plus\\n");\n'
    report, artifact = build_submission(
        (PLAIN + lie).encode(), _CHALLENGE, Target("emulator", "compute_80"), JudgeSettings(tmp_path)
    )
    assert not report.ok
    assert artifact is None


def test_the_words_of_drivers() -> None:
    assert says_killed(b"kernel.cu\ncollect2: fatal error: ld terminated with signal 9 [Killed]\n")
    assert says_killed(b"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n")
    assert not says_killed(b"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)\n")
