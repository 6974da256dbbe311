// idea: 1024 threads of more than 64 registers each hide any latency, where a GPU can hold none of them
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: the launch is refused by ptxas's count of registers, as a GPU refuses it
#include <cuda_runtime.h>

constexpr int held = 120;

__global__ void add(const float* A, const float* B, float* C, int N, float nothing) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float values[held];
#pragma unroll
    for (int j = 0; j < held; j++) values[j] = A[(i + 31 * j) % N];
    // All of them are needed until the end.
    for (int round = 0; round < 2; round++) {
#pragma unroll
        for (int j = 0; j < held; j++) values[j] = values[j] * nothing + values[(j + 37) % held] * nothing;
    }
    float rest = 0;
#pragma unroll
    for (int j = 0; j < held; j++) rest += values[j] * nothing;
    if (i < N) C[i] = A[i] + B[i] + rest;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 1023) / 1024, 1024>>>(A, B, C, N, 0.0f);
}
