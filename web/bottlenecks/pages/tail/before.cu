#include <cuda_runtime.h>

// One block, so one multiprocessor works and all others wait.
__global__ void add(const float* A, const float* B, float* C, int N) {
    for (int i = threadIdx.x; i < N; i += blockDim.x) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<1, 1024>>>(A, B, C, N);
}
