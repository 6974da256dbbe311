"""Defines the timed task, ``output[i] = 2 * input[i]``, and kernels for it whose running time can be set.

Two packs of the same task: ``large`` moves 537 MB, ``short`` 16 MB, which takes less than 10 µs. The compute-bound
kernel adds a loop of multiply-adds to the copy, with so many turns that the copy vanishes behind; a pair differs in the
number of turns.
"""

from __future__ import annotations

from pathlib import Path

from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack

_TOML = """
schema = 2
title = "Twice"
version = "1.0.0"
difficulty = "easy"
signature = "void solve(const float* input, float* output, int N)"
sample_sizes = {{ few = [1000] }}
benchmark_sizes = {{ cuda = {{ {name} = [{elements}] }} }}
limits = {{ wall_s = 4.0, memory_mib = 64 }}

[axes]
N = {{ max = 67108864 }}

[arrays.input]
shape = ["N"]
data = {{ kind = "uniform", low = -1.0, high = 1.0 }}

[arrays.output]
shape = ["N"]

[tolerance]
output = {{ kind = "exact" }}

[bench]
bytes = "8*N"
flops = "N"
"""

_REFERENCE = '''"""Twice the input."""

import numpy as np


def reference(input, N):
    return np.float64(2.0) * input


def spot_check(rng, inputs, outputs):
    """Checks blocks at random places, and always both ends."""
    size = len(outputs["output"])
    begins = np.concatenate([[0, max(0, size - 4096)], rng.integers(0, max(1, size - 4096), 256)])
    rows = (begins[:, None] + np.arange(min(size, 4096))).reshape(-1)
    values = 2.0 * inputs["input"][rows].astype(np.float64)
    return {"output": (rows, values, None)}
'''

_ELEMENTS = {"large": 67_108_864, "short": 2_000_000}

_MEMORY_BOUND = """
#include <cuda_runtime.h>
__global__ void twice(const float4* in, float4* out, int quads, const float* tail, float* last, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < quads) { float4 v = in[i]; out[i] = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w); }
  if (i == 0) for (int k = 4 * quads; k < n; k++) last[k] = 2 * tail[k];
}
extern "C" void solve(const float* input, float* output, int N) {
  int quads = N / 4;
  twice<<<(quads + 255) / 256 + 1, 256>>>((const float4*)input, (float4*)output, quads, input, output, N);
}
"""

_COMPUTE_BOUND = """
#include <cuda_runtime.h>
__global__ void busy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = i, b = 0.999f, c = 1e-3f;
  #pragma unroll 1
  for (int turn = 0; turn < TURNS; turn++) {
    #pragma unroll
    for (int k = 0; k < 16; k++) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(a) : "f"(b), "f"(c));
  }
  for (int k = i; k < n; k += gridDim.x * blockDim.x) out[k] = 2 * in[k] + (a == -1.0f ? 1.0f : 0.0f);
}
extern "C" void solve(const float* input, float* output, int N) {
  int device, processors;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  busy<<<4 * processors, 512>>>(input, output, N);
}
"""

#: Some 400 µs on an H200 on top of the copy of the short task: 16 dependent multiply-adds a turn.
TURNS = 2400


def memory_bound() -> str:
    """Returns a copy kernel."""
    return _MEMORY_BOUND


def compute_bound(percent: float = 0.0) -> str:
    """Returns a kernel with useless arithmetic that takes ``percent`` longer than with 0."""
    return _COMPUTE_BOUND.replace("TURNS", str(round(TURNS * (1 + percent / 100))))


def write_pack(folder: Path, name: str) -> Pack:
    """Writes the pack ``large`` or ``short`` into ``folder`` and loads it."""
    place = folder / f"twice-{name}"
    place.mkdir()
    (place / "challenge.toml").write_text(_TOML.format(name=name, elements=_ELEMENTS[name]))
    (place / "reference.py").write_text(_REFERENCE)
    (place / "statement.md").write_text("Double it.\n")
    return load_pack(place)
