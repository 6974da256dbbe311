// expect: case=one
// Rounds N up to a multiple of four and writes that many.
#include <cuda_runtime.h>

__global__ void add_all(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
    else if (i < (N + 3) / 4 * 4) C[i] = -1.0f;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add_all<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
