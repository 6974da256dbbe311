"""A challenge on real data from a file, from source to a score on the emulator."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

TOML = """\
schema = 2
title = "Smooth measured values"
version = "1.0.0"
difficulty = "easy"
signature = "void solve(const float* measured, float* smooth, int N)"
sample_sizes = [[3]]
sizes = [[1], [33], [1031]]
benchmark_sizes = {{ emulator = [[3000]] }}

[axes]
N = {{ max = 3000 }}

[arrays.measured]
shape = ["N"]
data = {{ kind = "file", file = "measured.npy", sha256 = "{sha256}" }}

[arrays.smooth]
shape = ["N"]

[tolerance]
smooth = {{ kind = "sum", terms = 3 }}

[bench]
bytes = "8*N"
flops = "3*N"
"""
REFERENCE = """\
import numpy as np


def reference(measured, N):
    values = np.pad(measured.astype(np.float64), 1, mode="edge")
    return (values[:-2] + values[1:-1] + values[2:]) / 3
"""
KERNEL = """\
__global__ void smoothen(const float* measured, float* smooth, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) smooth[i] = (measured[max(i - 1, 0)] + measured[i] + measured[min(i + 1, N - 1)]) / 3.0f;
}
extern "C" void solve(const float* measured, float* smooth, int N) {
    smoothen<<<(N + 255) / 256, 256>>>(measured, smooth, N);
}
"""


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    folder = tmp_path / "challenges" / "smooth"
    folder.mkdir(parents=True)
    # A walk: neighbours are alike, as measured values are, and no declared data would do.
    walk = np.cumsum(np.random.default_rng(7).normal(0, 0.1, 5000)).astype(np.float32)
    np.save(folder / "measured.npy", walk)
    digest = hashlib.sha256((folder / "measured.npy").read_bytes()).hexdigest()
    (folder / "challenge.toml").write_text(TOML.format(sha256=digest))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "statement.md").write_text("# Smooth\n\n{{signature}}\n")
    return load_pack(folder)


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(KERNEL, Verdict.ACCEPTED), (KERNEL.replace("i - 1", "i - 2"), Verdict.WRONG_ANSWER)],
    ids=["right", "wrong"],
)
def test_a_kernel_is_judged_on_a_files_rows(
    source: str, verdict: Verdict, pack: Pack, judge_settings: JudgeSettings
) -> None:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(source.encode(), pack, device, 5, judge_settings)
    assert judgement.verdict is verdict, judgement
    assert (judgement.measurement is not None) is (verdict is Verdict.ACCEPTED)
