"""An audit on a real GPU launches kernels again without the program's host code.

Honest ones take what they were said to take, and a time that they do not reach is not trusted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge import audit, pipeline
from judge.bench.timing import trial
from judge.judgement import DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.adversarial.hostile import FOLDER

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

SOLUTIONS = Path(__file__).parents[2] / "reference_solutions"
PYTHON = (FOLDER / "common" / "python.cuh").read_text(encoding="utf-8")
#: Half of each time, as the runner tells it.
LIES = (
    PYTHON
    + """
__attribute__((constructor)) static void begin() {
    run_python(R"(
from judge.runner.cuda.timer import CudaTimer

def elapsed(self, real=CudaTimer.elapsed):
    return real(self) / 2

CudaTimer.elapsed = elapsed
)");
}
"""
)
GRAPH = """
#include <cuda_runtime.h>
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add<<<(N + 255) / 256, 256, 0, stream>>>(A, B, C, N);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&made, graph, 0);
    cudaGraphLaunch(made, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(made);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
"""

Audit = Callable[[str, str], Judgement]


@pytest.fixture
def audited(gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings) -> Audit:
    def judge(source: str, slug: str) -> Judgement:
        report, artifact = pipeline.build(source.encode(), packs[slug], gpu, judge_settings)
        assert artifact is not None, report.log
        sources = [(source.encode(), "cuda")]
        [judgement] = audit.audit([(artifact, report)], packs[slug], gpu, 5, judge_settings, sources=sources)
        print(f"{slug}: {judgement.verdict} {judgement.message} {_entry(judgement)} in {judgement.wall_s:.1f} s")
        return judgement

    return judge


def _entry(judgement: Judgement) -> dict[str, Any]:
    if judgement.measurement is None:
        return {}
    [case] = judgement.measurement.cases
    return {name: getattr(case, name) for name in ("value", "replayed_s", "not_replayed")}


@pytest.mark.triton
@pytest.mark.parametrize(
    "name", ["vector-add/tuned", "gemm/tuned", "softmax/plain", "prefix-sum/plain", "attention/plain"]
)
def test_honest_triton_kernels_are_replayed(
    name: str, gpu: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    source = (SOLUTIONS / f"{name}.py").read_bytes()
    pack = packs[name.partition("/")[0]].in_language("triton")
    report, artifact = pipeline.build(source, pack, gpu, judge_settings)
    assert artifact is not None, report.log
    [judgement] = audit.audit([(artifact, report)], pack, gpu, 5, judge_settings, sources=[(source, "triton")])
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    entry = _entry(judgement)
    print(f"{name}: {entry}")
    assert entry["not_replayed"] is None
    # The claim has the launcher's part in Python, which the replay does not have.
    assert entry["replayed_s"] <= entry["value"] + max(0.05 * entry["value"], 5e-6)


@pytest.mark.parametrize("slug", ["vector-add", "reduction", "softmax", "gemm", "int8-matmul", "attention"])
def test_honest_kernels_take_what_they_were_said_to_take(audited: Audit, slug: str) -> None:
    judgement = audited((SOLUTIONS / slug / "tuned.cu").read_text(encoding="utf-8"), slug)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    entry = _entry(judgement)
    assert entry["not_replayed"] is None
    assert abs(entry["replayed_s"] - entry["value"]) <= max(0.05 * entry["value"], 5e-6)


def test_half_of_a_time_is_not_trusted(audited: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    # The clock outside would say so first.
    monkeypatch.setattr(trial, "find_contradiction", lambda *_: None)
    judgement = audited(LIES + (SOLUTIONS / "gemm" / "plain.cu").read_text(encoding="utf-8"), "gemm")
    assert judgement.verdict is Verdict.TIMING_NOT_TRUSTED, judgement
    assert "launched again without the program's host code" in judgement.message
    assert judgement.measurement is None


def test_a_graph_is_not_replayed_and_nothing_else_changes(audited: Audit) -> None:
    judgement = audited(GRAPH, "vector-add")
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert "cudaStreamBeginCapture" in _entry(judgement)["not_replayed"]
