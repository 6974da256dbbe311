// Every thread adds its element straight into the output, which is zero on entry. Slow, and right.
#include <cuda_runtime.h>

__global__ void sum(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(output, input[i]);
}

extern "C" void solve(const float* input, float* output, int N) { sum<<<(N + 255) / 256, 256>>>(input, output, N); }
