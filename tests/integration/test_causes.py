"""Kernels with one mistake each, and the words that must name it: what a learner reads first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.judgement import DeviceInfo
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.recorded("tests/causes")]

SOURCES = sorted(path for path in (ROOT / "tests" / "causes").iterdir() if path.suffix in (".cu", ".py"))
#: Kernels that are like some of those, without the mistake.
RIGHT = sorted((ROOT / "tests" / "causes" / "right").iterdir())
_HEADER = re.compile(r"^(?://|#) (challenge|verdict|mode|told|untold|headline): (.*)$", re.MULTILINE)
_NEEDS_TRITON = pytest.mark.triton
#: It spins until its limit.
_COSTLY = {"spinning_grid.cu": [pytest.mark.exhaustive(costly=True)]}


@pytest.fixture
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


#: Lanes that overwrite each other, where the value that stays does not matter.
IDLE = """#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    __shared__ volatile int last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    last = threadIdx.x;
    __syncwarp();
    if (i < N) C[i] = A[i] + B[i] + (last > 1000 ? 1.0f : 0.0f);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 31) / 32, 32>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
"""


@pytest.mark.parametrize("mode", [pipeline.Mode.RUN, pipeline.Mode.SUBMIT])
def test_what_does_not_matter_accuses_nobody(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings, mode: pipeline.Mode
) -> None:
    judgement = pipeline.judge(IDLE.encode(), packs["vector-add"], device, 5, judge_settings, mode=mode)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert not any(case.memory_errors or case.message for case in judgement.cases)


@pytest.mark.exhaustive(share=3)
@pytest.mark.parametrize("source", [pytest.param(path, id=path.name) for path in RIGHT])
def test_right_code_accuses_nobody(
    source: Path, packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    pack = packs[dict(_HEADER.findall(source.read_text()))["challenge"]]
    judgement = pipeline.judge(source.read_bytes(), pack, device, 5, judge_settings, mode=pipeline.Mode.SUBMIT)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert not any(case.memory_errors or case.message for case in judgement.cases)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(path, marks=_NEEDS_TRITON if path.suffix == ".py" else _COSTLY.get(path.name, ()), id=path.name)
        for path in SOURCES
    ],
)
def test_the_cause_is_named(
    source: Path, packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings
) -> None:
    header = dict(_HEADER.findall(source.read_text()))
    language = BUILTIN_LANGUAGES.of_file(source.name)
    assert language is not None
    pack = packs[header["challenge"]].in_language(language.name)
    mode = pipeline.Mode[header.get("mode", "RUN")]
    judgement = pipeline.judge(source.read_bytes(), pack, device, 5, judge_settings, mode=mode)
    message = next(case for case in judgement.cases if case.verdict is not Verdict.ACCEPTED).message
    assert judgement.verdict.value == header["verdict"]
    assert header["told"] in message
    assert "untold" not in header or header["untold"] not in message
    assert message.startswith(header.get("headline", ""))
