"""Kernels with one mistake each, and the words that must name it: what a learner reads first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.recorded("tests/causes")]

SOURCES = sorted((ROOT / "tests" / "causes").glob("*.cu"))
_HEADER = re.compile(r"^// (challenge|verdict|told|headline): (.*)$", re.MULTILINE)


@pytest.fixture
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_cause_is_named(
    source: Path, packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    header = dict(_HEADER.findall(source.read_text()))
    judgement = pipeline.judge(
        source.read_bytes(), packs[header["challenge"]], device, 5, judge_settings, mode=pipeline.Mode.RUN
    )
    message = next(case for case in judgement.cases if case.verdict is not Verdict.ACCEPTED).message
    assert judgement.verdict.value == header["verdict"]
    assert header.get("told", "") in message
    assert message.startswith(header.get("headline", ""))
