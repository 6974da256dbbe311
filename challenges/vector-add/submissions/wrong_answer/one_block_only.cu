// expect: case=pairs
// A block of 1024, whatever N is.
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    if (threadIdx.x < N) C[threadIdx.x] = A[threadIdx.x] + B[threadIdx.x];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<1, 1024>>>(A, B, C, N); }
