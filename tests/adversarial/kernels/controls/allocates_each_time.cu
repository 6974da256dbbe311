// idea: honest: copies of its own, by cudaMalloc and by the stream's pool, freed in every call
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    float *copy, *pooled;
    cudaMalloc(&copy, 4ul * N);
    cudaMallocAsync(&pooled, 4ul * N, 0);
    cudaMemcpyAsync(copy, A, 4ul * N, cudaMemcpyDeviceToDevice, 0);
    add<<<(N + 255) / 256, 256>>>(copy, B, pooled, N);
    cudaMemcpyAsync(C, pooled, 4ul * N, cudaMemcpyDeviceToDevice, 0);
    cudaFreeAsync(pooled, 0);
    cudaFree(copy);
}
