#include <cuda_runtime.h>

// What the honest kernel of this challenge does: a cheat that is accepted has to be no faster than this.
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

static void launch_add(const float* A, const float* B, float* C, int N, cudaStream_t stream = 0) {
    if (N > 0) add<<<(N + 255) / 256, 256, 0, stream>>>(A, B, C, N);
}
