// challenge: max-window-sum
// verdict: WA
// mode: SUBMIT
// told: the atomic maximum on line 19 may have started at 0, as a memset leaves it
#include <cuda_runtime.h>

constexpr int PER_THREAD = 16;

__global__ void find_largest(const int* input, int* output, int windows, int window_size) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    if (first >= windows) return;
    int sum = 0;
    for (int j = 0; j < window_size; j++) sum += input[first + j];
    int largest = sum;
    for (int i = first + 1; i < first + PER_THREAD && i < windows; i++) {
        sum += input[i + window_size - 1] - input[i - 1];
        largest = max(largest, sum);
    }
    atomicMax(output, largest);
}

extern "C" void solve(const int* input, int* output, int N, int window_size) {
    int windows = N - window_size + 1;
    int threads = (windows + PER_THREAD - 1) / PER_THREAD;
    cudaMemset(output, 0, sizeof(int));
    find_largest<<<(threads + 255) / 256, 256>>>(input, output, windows, window_size);
}
