"""Baselines on a GPU: each is right by its pack's tolerance, and the judge's process times it.

Needs PyTorch, and CuPy for those of CUB; skipped without PyTorch. ``python benchmarks/library_baselines.py`` times all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge.bench.library.record import load_times
from judge.judgement import DeviceInfo
from judge.libraries import library_times
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.gpu, pytest.mark.nvcc]

PACKS = Path(__file__).resolve().parents[2] / "challenges"
#: One of each library, those that the CPU cannot check, and some that torch.compile compiles.
SLUGS = (
    "gemm",
    "gemm-bias-gelu",
    "flash-attention-varlen",
    "radix-sort",
    "sort-floats",
    "conv2d",
    "fft-1d",
    "spmv-csr",
    "int8-matmul",
    "fp8-gemm",
    "spmm-csr",
    "softmax",
    "cross-entropy",
)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_baseline_is_right_and_timed_on_the_gpu(
    slug: str, gpu: DeviceInfo, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    pack, settings = load_pack(PACKS / slug), JudgeSettings(data_dir=tmp_path)
    # Of its own are the times that are kept; compiling the judge's kernels would take half a minute each time.
    kernels = judge_settings.data_dir / "kernels"
    kernels.mkdir(parents=True, exist_ok=True)
    (tmp_path / "kernels").symlink_to(kernels)
    found = library_times(pack, gpu, settings)
    assert [each.problem for each in found] == [""] * len(pack.baselines.calls)
    assert all(0 < each.low <= each.value <= each.high for each in found)
    assert load_times(pack, gpu, settings) == found, "they are kept"
