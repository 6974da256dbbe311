// Every thread adds its element to the result by an atomic.
#include <cuda_runtime.h>

__global__ void add_up(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(output, input[i]);
}

extern "C" void solve(const float* input, float* output, int N) { add_up<<<(N + 255) / 256, 256>>>(input, output, N); }
