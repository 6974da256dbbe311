"""Baselines on a GPU: each is right by its pack's tolerance, and the judge's process times it.

Needs PyTorch, and CuPy for those of CUB; skipped without PyTorch. ``python benchmarks/library_baselines.py`` times all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge.backends.registry import BUILTIN_BACKENDS
from judge.bench.library.record import load_times
from judge.libraries import library_times
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings

PACKS = Path(__file__).resolve().parents[2] / "challenges"
#: One of each library, and those that the CPU cannot check.
SLUGS = (
    "gemm",
    "gemm-bias-gelu",
    "flash-attention-varlen",
    "radix-sort",
    "sort-floats",
    "conv2d",
    "fft-1d",
    "spmv-csr",
)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_baseline_is_right_and_timed_on_the_gpu(slug: str, tmp_path: Path) -> None:
    pack, settings = load_pack(PACKS / slug), JudgeSettings(data_dir=tmp_path)
    device = BUILTIN_BACKENDS.find_device("cuda:0", settings)
    found = library_times(pack, device, settings)
    assert [each.problem for each in found] == [""] * len(pack.baselines.calls)
    assert all(0 < each.low <= each.value <= each.high for each in found)
    assert load_times(pack, device, settings) == found, "they are kept"
