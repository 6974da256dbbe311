#include <cuda_runtime.h>

constexpr int THREADS = 256;  // 8 blocks fill the 2048 threads of a multiprocessor

__global__ void relu(const float* input, float* output, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) output[i] = fmaxf(input[i], 0.0f);  // a register holds the value: no thread needs another one's
}

extern "C" void solve(const float* input, float* output, int N) {
    relu<<<(N + THREADS - 1) / THREADS, THREADS>>>(input, output, N);
}
