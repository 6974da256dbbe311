// expect: case=four
// The condition never comes true; the store keeps the loop from being dropped.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, volatile float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    while (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<(N + 255) / 256, 256>>>(A, B, C, N); }
