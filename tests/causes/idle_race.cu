// challenge: vector-add
// verdict: WA
// told: also found, though other orders of warps gave the same answer: race on shared memory
// headline: C[
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    __shared__ float last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    last = static_cast<float>(threadIdx.x);
    float seen = last;
    if (i < N) C[i] = A[i] - B[i] + (seen > 1e9f ? 1.0f : 0.0f);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
    cudaDeviceSynchronize();
}
