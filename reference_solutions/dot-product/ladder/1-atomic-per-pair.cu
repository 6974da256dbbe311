// Every thread adds the product of its pair to the result by an atomic.
#include <cuda_runtime.h>

__global__ void dot(const float* A, const float* B, float* result, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(result, A[i] * B[i]);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    dot<<<(N + 255) / 256, 256>>>(A, B, result, N);
}
