// Adds into a variable that it never clears, so only the first call is right.
#include <cuda_runtime.h>

__device__ float total;

__global__ void sum(const float* input, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd(&total, input[i]);
}

__global__ void store(float* output) { *output = total; }

extern "C" void solve(const float* input, float* output, int N) {
    sum<<<(N + 255) / 256, 256>>>(input, N);
    store<<<1, 1>>>(output);
}
