#include <cuda_runtime.h>

constexpr int THREADS = 64;
constexpr int ROOM = 12000;  // 48,000 bytes of shared memory, of which a block uses 256

__global__ void relu(const float* input, float* output, int N) {
    __shared__ float stage[ROOM];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) stage[threadIdx.x] = input[i];
    __syncthreads();
    if (i < N) output[i] = fmaxf(stage[threadIdx.x], 0.0f);
}

extern "C" void solve(const float* input, float* output, int N) {
    relu<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, N);
}
