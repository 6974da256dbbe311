"""The judge names the line that leaves its part of shared memory in a wrong kernel, and accuses no honest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.shared_parts import HONEST, WRONG

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.exhaustive,
    pytest.mark.recorded("tests/shared_parts", "challenges/vector-add"),
]


def judge(file: Path, packs: dict[str, Pack], settings: JudgeSettings) -> Judgement:
    device = BUILTIN_BACKENDS.find_device("emulator", settings)
    return pipeline.judge(file.read_bytes(), packs["vector-add"], device, 11, settings, mode=pipeline.Mode.RUN)


@pytest.mark.parametrize("file", WRONG, ids=lambda file: file.stem)
def test_a_wrong_kernel(file: Path, packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    ((line, part),) = (
        (number, text.rpartition("// wrong: ")[2])
        for number, text in enumerate(file.read_text().splitlines(), 1)
        if "// wrong: " in text
    )

    judgement = judge(file, packs, judge_settings)

    assert judgement.verdict is Verdict.WRONG_ANSWER
    ((case, fault),) = (
        (case, fault)
        for case in judgement.cases
        for fault in case.memory_errors
        if fault.kind == "access outside its part of shared memory"
    )
    assert (fault.file, fault.line) == ("kernel.cu", line)
    assert f" of {part}, which are the " in fault.message
    assert fault.message in case.message


@pytest.mark.parametrize("file", HONEST, ids=lambda file: file.stem)
def test_an_honest_kernel(file: Path, packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    judgement = judge(file, packs, judge_settings)

    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert not any(case.memory_errors or case.message for case in judgement.cases)
