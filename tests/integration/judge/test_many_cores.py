"""A host with many processors and no cgroups: as many threads as processors, under a limit on processes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.emulator import backend as emulator
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import Judgement
from judge.packs.collection.loader import load_pack
from judge.sandbox.cgroup import Group
from judge.sandbox.cgroup_hierarchy import find_hierarchy
from judge.settings import JudgeSettings, RunLimits
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]


@pytest.fixture(autouse=True)
def _no_cgroups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Group, "create", lambda **_: Group(find_hierarchy(), {}))


def judge(settings: JudgeSettings) -> Judgement:
    pack = load_pack(ROOT / "challenges/vector-add")
    source = (pack.directory / "submissions/accepted/grid_stride.cu").read_bytes()
    device = BUILTIN_BACKENDS.find_device("emulator", settings)
    return pipeline.judge(source, pack, device, 1, settings, mode=pipeline.Mode.CHECK)


def test_limits_follow_the_threads(judge_settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.processors.emulator_processors", lambda: 64)
    settings = dataclasses.replace(judge_settings, emulator_threads=64)
    judgement = judge(settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message


def test_with_fewer_threads_than_asked_for_kernels_run_all_the_same(
    judge_settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit on processes may be tighter than whoever asked for the threads knew."""
    spec_of = emulator.EmulatorBackend.runner_spec
    monkeypatch.setattr(
        emulator.EmulatorBackend,
        "runner_spec",
        lambda *given: dataclasses.replace(spec_of(*given), threads=64, busy_threads=2),
    )
    judgement = judge(dataclasses.replace(judge_settings, run=RunLimits(processes=38)))
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message


def test_the_folder_of_locks_need_not_be_there(judge_settings: JudgeSettings, tmp_path: Path) -> None:
    settings = dataclasses.replace(judge_settings, locks_dir=tmp_path / "run/locks")
    assert judge(settings).verdict is Verdict.ACCEPTED
