// expect: case=one-tile
// Reads eight halves at once, from one half beyond where that is allowed.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void gemm(const half* A, half* C) {
    uint4 piece = *reinterpret_cast<const uint4*>(A + 8 * threadIdx.x + 1);
    reinterpret_cast<uint4*>(C)[threadIdx.x] = piece;
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    gemm<<<1, 16>>>(A, C);
}
