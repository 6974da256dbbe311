// expect: case=far-above-zero
// exp overflows where the maximum is not taken off.
#include <cuda_runtime.h>

__device__ float sum;

__global__ void clear() { sum = 0.0f; }

__global__ void add_up(const float* input, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&sum, expf(input[i]));
}

__global__ void divide(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) output[i] = expf(input[i]) / sum;
}

extern "C" void solve(const float* input, float* output, int N) {
    clear<<<1, 1>>>();
    add_up<<<(N + 255) / 256, 256>>>(input, N);
    divide<<<(N + 255) / 256, 256>>>(input, output, N);
}
