"""Kernels that use Hopper's own instructions, from source to judgement on the emulator."""

from __future__ import annotations

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings
from judge.verdict import Verdict

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

#: The copy engine brings A; the call of the driver is linked as it stands.
_BY_TENSOR_MAP = """
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void add(const __grid_constant__ CUtensorMap map, const float* B, float* C, int N) {
    __shared__ alignas(128) float tile[256];
    __shared__ uint64_t bar;
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&bar), to = (uint32_t)__cvta_generic_to_shared(tile);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2}], [%3];"
                     ::"r"(to), "l"(&map), "r"((int)blockIdx.x * 256), "r"(at) : "memory");
    }
    __syncthreads();
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }"
                 ::"r"(at) : "memory");
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < N) C[i] = tile[threadIdx.x] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    CUtensorMap map;
    cuuint64_t size[] = {(cuuint64_t)N};
    cuuint32_t box[] = {256}, step[] = {1};
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void*)A, size, nullptr, box, step,
                           CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    add<<<(N + 255) / 256, 256>>>(map, B, C, N);
}
"""


def test_a_kernel_calls_the_driver_for_a_tensor_map(packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(_BY_TENSOR_MAP.encode(), packs["vector-add"], device, 11, judge_settings, mode=Mode.RUN)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert not any(case.memory_errors for case in judgement.cases)
