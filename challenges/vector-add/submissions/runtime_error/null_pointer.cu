// expect: case=four
// Every thread writes through a null pointer.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    float* nowhere = nullptr;
    add<<<(N + 255) / 256, 256>>>(A, B, nowhere, N);
}
