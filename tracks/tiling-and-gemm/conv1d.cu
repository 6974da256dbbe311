// A window of the signal and the weights in shared memory, one output for each thread.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int TAPS = 512;  // weights at a time

__global__ void convolve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    __shared__ float signal[THREADS + TAPS];
    __shared__ float weights[TAPS];
    int first = blockIdx.x * THREADS;
    float sum = 0.0f;
    for (int tap = 0; tap < kernel_size; tap += TAPS) {
        int taps = min(TAPS, kernel_size - tap);
        for (int i = threadIdx.x; i < taps; i += THREADS) weights[i] = kernel[tap + i];
        for (int i = threadIdx.x; i < THREADS + taps; i += THREADS) {
            int from = first + tap + i;
            signal[i] = from < input_size ? input[from] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < taps; j++) sum += signal[threadIdx.x + j] * weights[j];
        __syncthreads();
    }
    int i = first + threadIdx.x;
    if (i <= input_size - kernel_size) output[i] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    int size = input_size - kernel_size + 1;
    convolve<<<(size + THREADS - 1) / THREADS, THREADS>>>(input, kernel, output, input_size, kernel_size);
}
