// One thread per element.
#include <cuda_runtime.h>

__global__ void leaky_relu(const float* input, float* output, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = input[i];
    output[i] = x > 0.0f ? x : 0.01f * x;
}

extern "C" void solve(const float* input, float* output, int N) {
    leaky_relu<<<(N + 255) / 256, 256>>>(input, output, N);
}
