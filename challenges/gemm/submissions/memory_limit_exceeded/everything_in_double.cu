// expect: case=one-tile
// Unpacks far more than there is.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    double* unpacked;
    if (cudaMalloc(&unpacked, sizeof(double) << 37) != cudaSuccess) return;
    cudaFree(unpacked);
}
