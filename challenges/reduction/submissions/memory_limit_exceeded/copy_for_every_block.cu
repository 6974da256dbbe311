// expect: case=four
// Wants gigabytes for partial sums, piece by piece, and does not look whether it got them.
#include <cuda_runtime.h>

__global__ void sum(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(output, input[i]);
}

extern "C" void solve(const float* input, float* output, int N) {
    float* room[4096] = {};
    for (int i = 0; i < 4096; i++) {
        if (cudaMalloc(&room[i], 1ull << 30) != cudaSuccess) return;
    }
    sum<<<(N + 255) / 256, 256>>>(input, output, N);
}
