// A thread per element of the output, which reads its taps and up to K earlier elements of its channel.
#include <cuda_runtime.h>

__global__ void convolve(const float* x, const float* weight, const float* bias, float* output, size_t count, int L, int D, int K) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int d = i % D;
    int l = i / D % L;
    float sum = bias[d];
    for (int k = 0; k < K && k <= l; k++) sum += weight[d * K + k] * x[i - (size_t)k * D];
    output[i] = sum;
}

extern "C" void solve(const float* x, const float* weight, const float* bias, float* output, int B, int L, int D, int K) {
    size_t count = (size_t)B * L * D;
    convolve<<<(unsigned)((count + 255) / 256), 256>>>(x, weight, bias, output, count, L, D, K);
}
