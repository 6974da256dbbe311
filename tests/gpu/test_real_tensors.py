"""Triton submissions with the PyTorch that is installed on a GPU's machine, as GPUJUDGE_PYTORCH allows it.

Skipped without PyTorch.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
from collections.abc import Callable

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge import pipeline
from judge.gpu.discovery import find_gpus
from judge.judgement import DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT
from tests.integration.judge.runner.cuda.test_python_steps import SOURCE

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc, pytest.mark.triton]

HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.load(a + at, mask=at < n) + tl.load(b + at, mask=at < n), mask=at < n)


"""
LAUNCH = "add[(triton.cdiv(N, 1024),)](A, B, {out}, N, BLOCK=1024)"
SCRATCH = f"""{HEAD}
def solve(A, B, C, N):
    scratch = torch.empty_like(A), torch.empty(N, device=A.device)
    {LAUNCH.format(out="scratch[0]")}
    {LAUNCH.format(out="scratch[1]")}
    C.copy_(scratch[1])
"""
#: The pass that finds launches has stand-ins, and ignores what is raised there.
IS_REAL = f"""{HEAD}
def solve(A, B, C, N):
    {LAUNCH.format(out="C")}
    assert type(A) is torch.Tensor and A.is_cuda and A.shape == (N,) and A.dtype is torch.float32
    assert A.is_contiguous() and torch.cuda.current_stream() == torch.cuda.default_stream()
    assert N > 1000 or A[0].item() == A.cpu()[0].item()
"""
SIDE_STREAM = f"""{HEAD}
streams = []


def solve(A, B, C, N):
    if not streams:
        streams.append(torch.cuda.Stream())
    with torch.cuda.stream(streams[0]):
        {LAUNCH.format(out="C")}
"""
#: The answer to the first call of a size again and again.
KEEPS_ANSWERS = f"""{HEAD}
kept = {{}}


def solve(A, B, C, N):
    if N not in kept:
        {LAUNCH.format(out="C")}
        kept[N] = C.clone()
    else:
        C.copy_(kept[N])
"""
KEEPS_EVERYTHING = f"""{HEAD}
kept = []


def solve(A, B, C, N):
    try:
        for _ in range(400):
            kept.append(torch.empty(1 << 30, dtype=torch.uint8, device=A.device))
    except RuntimeError:
        pass
    {LAUNCH.format(out="C")}
"""
TYPES = """
import torch


def solve(A, B, C, scale_a, scale_b, M, N, K):
    assert A.dtype is torch.float8_e4m3fn and A.shape == (M, K) and B.shape == (N, K), (A.dtype, A.shape)
    assert C.dtype is torch.float16 and C.stride() == (N, 1), (C.dtype, C.stride())
    raise ValueError("as they should be")
"""
MATMUL = "import torch\n\n\ndef solve(A, B, C, M, N, K):\n    torch.matmul(A, B, out=C)\n"

Judged = Callable[..., Judgement]


@pytest.fixture
def judged(packs: dict[str, Pack], judge_settings: JudgeSettings) -> Judged:
    """``judged(source, slug, allowed, mode)``: the judgement on the first GPU, with so much of PyTorch."""

    def judge(
        source: str, slug: str = "vector-add", allowed: str = "tensors", mode: pipeline.Mode = pipeline.Mode.SUBMIT
    ) -> Judgement:
        settings = dataclasses.replace(judge_settings, pytorch=allowed)
        found = find_gpus(settings)
        assert found.devices, found.problem
        pack = packs[slug].in_language("triton")
        judgement = pipeline.judge(source.encode(), pack, found.devices[0], 5, settings, mode=mode)
        print(f"{slug} with {allowed}: {judgement.verdict}, {judgement.wall_s:.1f} s, {judgement.message}")
        if judgement.measurement is not None:
            print(f"  {judgement.measurement.value * 1e6:.2f} us, {judgement.measurement.fingerprint.pytorch}")
        return judgement

    return judge


@pytest.mark.parametrize("allowed", ["tensors", "functions"])
def test_tensors_are_the_real_ones(judged: Judged, gpu: DeviceInfo, allowed: str) -> None:
    judgement = judged(IS_REAL, allowed=allowed)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    made_with = judgement.measurement.fingerprint
    assert made_with.pytorch == f"{importlib.metadata.version('torch')}, {allowed}"
    assert made_with.device == (gpu.key if allowed == "tensors" else f"{gpu.key}-pytorch")


def test_scratch_memory_of_pytorch(judged: Judged) -> None:
    judgement = judged(SCRATCH)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None


def test_softmax_with_scratch_memory(judged: Judged) -> None:
    judgement = judged((ROOT / "reference_solutions/softmax/plain.py").read_text(), "softmax")
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None


def test_scratch_memory_of_a_kernel(judged: Judged) -> None:
    """Descriptors need it, and so does an array of numbers; neither names a device."""
    judgement = judged(SOURCE.decode().replace("1.5", "0.0"), mode=pipeline.Mode.RUN)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message


def test_eight_bit_floats_have_their_type(judged: Judged) -> None:
    judgement = judged(TYPES, "fp8-gemm")
    assert judgement.verdict is Verdict.RUNTIME_ERROR
    assert "as they should be" in judgement.message


def test_work_on_a_stream_of_pytorch_is_on_the_clock(judged: Judged) -> None:
    honest, aside = judged(IS_REAL), judged(SIDE_STREAM)
    assert aside.verdict in (Verdict.ACCEPTED, Verdict.TIMING_NOT_TRUSTED), aside.message
    assert honest.measurement is not None
    if aside.measurement is not None:
        assert aside.measurement.value > 0.95 * honest.measurement.value


def test_answers_that_are_kept_are_wrong(judged: Judged) -> None:
    judgement = judged(KEEPS_ANSWERS)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement.message


def test_memory_that_is_kept_is_back_for_the_next(judged: Judged) -> None:
    judged(KEEPS_EVERYTHING, mode=pipeline.Mode.RUN)
    judgement = judged(SCRATCH, mode=pipeline.Mode.RUN)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message


def test_a_function_of_a_library_is_refused_by_name(judged: Judged) -> None:
    judgement = judged(MATMUL, "matmul")
    assert judgement.verdict is Verdict.RUNTIME_ERROR, judgement.message
    assert "mm is PyTorch's own work" in judgement.message
    assert "kernel.py:5" in judgement.message


def test_where_functions_are_allowed_the_board_is_another(judged: Judged) -> None:
    judgement = judged(MATMUL, "matmul", "functions")
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    assert judgement.measurement.fingerprint.device.endswith("-pytorch")
    assert judgement.build.notes, "the pass that finds launches says what it lacked"


def test_native_submissions_are_judged_as_before(packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    settings = dataclasses.replace(judge_settings, pytorch="tensors")
    source = (ROOT / "reference_solutions/vector-add/plain.cu").read_bytes()
    judgement = pipeline.judge(source, packs["vector-add"], find_gpus(settings).devices[0], 5, settings)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    assert judgement.measurement.fingerprint.pytorch == ""
