// One thread per element.
#include <cuda_runtime.h>

__global__ void clamp(const float* input, float* output, float lo, float hi, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) output[i] = fminf(fmaxf(input[i], lo), hi);
}

extern "C" void solve(const float* input, float* output, float lo, float hi, int N) {
    clamp<<<(N + 255) / 256, 256>>>(input, output, lo, hi, N);
}
