// expect: case=least
// The largest sum is looked for from -9,999,999, which is not below all sums.
#include <cuda_runtime.h>

constexpr int PER_THREAD = 8, LEAST = -9999999;

__global__ void set_least(int* output) { *output = LEAST; }

__global__ void find_largest(const int* input, int* output, int windows, int window_size) {
    int begin = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD, end = min(begin + PER_THREAD, windows);
    if (begin >= end) return;
    int sum = 0, largest = LEAST;
    for (int i = begin; i < begin + window_size; i++) sum += input[i];
    for (int i = begin; i < end; i++) {
        largest = max(largest, sum);
        if (i + 1 < end) sum += input[i + window_size] - input[i];
    }
    atomicMax(output, largest);
}

extern "C" void solve(const int* input, int* output, int N, int window_size) {
    int windows = N - window_size + 1, threads = (windows + PER_THREAD - 1) / PER_THREAD;
    set_least<<<1, 1>>>(output);
    find_largest<<<(threads + 127) / 128, 128>>>(input, output, windows, window_size);
}
