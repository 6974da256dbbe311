"""A challenge for tests of the build: what a build needs of a pack, and no more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    std: str = "c++17"
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FakeChallenge:
    """Doubling an array."""

    build: Options = Options()
    signature_text: str = "void solve(const float* input, float* output, int N)"

    def header(self) -> str:
        return f'#pragma once\n#include <cuda_runtime.h>\nextern "C" {self.signature_text};\n'


KERNEL = """
__global__ void twice(const float* input, float* output, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) output[i] = 2 * input[i];
}
"""
LAUNCH = "{ twice<<<(N + 255) / 256, 256>>>(input, output, N); }\n"
PLAIN = KERNEL + 'extern "C" void solve(const float* input, float* output, int N) ' + LAUNCH
