// A thread makes four outputs, 128 apart, so that neighbouring lanes still read neighbouring words: a weight that is read
// from shared memory once serves four multiply-adds.
#include <cuda_runtime.h>

constexpr int MOST_TAPS = 2047;
constexpr int THREADS = 128;
constexpr int OUTPUTS = 4;
constexpr int PART = THREADS * OUTPUTS;

__global__ void convolve(const float* input, const float* kernel, float* output, int size, int taps) {
    __shared__ float weights[MOST_TAPS], signal[PART + MOST_TAPS - 1];
    int first = blockIdx.x * PART, length = size + taps - 1;
    for (int j = threadIdx.x; j < taps; j += THREADS) weights[j] = kernel[j];
    for (int j = threadIdx.x; j < PART + taps - 1; j += THREADS) signal[j] = first + j < length ? input[first + j] : 0.0f;
    __syncthreads();
    float sum[OUTPUTS] = {};
    for (int j = 0; j < taps; j++) {
        float weight = weights[j];
#pragma unroll
        for (int o = 0; o < OUTPUTS; o++) sum[o] += signal[threadIdx.x + o * THREADS + j] * weight;
    }
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
        int i = first + threadIdx.x + o * THREADS;
        if (i < size) output[i] = sum[o];
    }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    int size = input_size - kernel_size + 1;
    convolve<<<(size + PART - 1) / PART, THREADS>>>(input, kernel, output, size, kernel_size);
}
