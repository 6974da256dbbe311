// One thread per output: it goes along a row of the input and a row of the weights.
#include <cuda_runtime.h>

__global__ void linear(const float* input, const float* weight, const float* bias, float* output, int batch,
                       int in_features, int out_features) {
    int feature = blockIdx.x * blockDim.x + threadIdx.x;
    int sample = blockIdx.y * blockDim.y + threadIdx.y;
    if (feature >= out_features || sample >= batch) return;
    float sum = bias[feature];
    for (int i = 0; i < in_features; i++) sum += input[sample * in_features + i] * weight[feature * in_features + i];
    output[sample * out_features + feature] = sum;
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int batch,
                      int in_features, int out_features) {
    dim3 threads(16, 16);
    dim3 blocks((out_features + 15) / 16, (batch + 15) / 16);
    linear<<<blocks, threads>>>(input, weight, bias, output, batch, in_features, out_features);
}
