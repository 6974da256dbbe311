// A block per row, three passes: maximum, sum of exponentials, gradient.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;

__device__ float combine(float value, bool sum) {
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = sum ? shared[t] + shared[t + stride] : fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void differentiate(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    size_t first = (size_t)blockIdx.x * C;
    int right = labels[blockIdx.x];
    float largest = -INFINITY, total = 0.0f;
    for (int c = threadIdx.x; c < C; c += THREADS) largest = fmaxf(largest, logits[first + c]);
    largest = combine(largest, false);
    for (int c = threadIdx.x; c < C; c += THREADS) total += expf(logits[first + c] - largest);
    total = combine(total, true);
    for (int c = threadIdx.x; c < C; c += THREADS) {
        dlogits[first + c] = (expf(logits[first + c] - largest) / total - (c == right ? 1.0f : 0.0f)) / N;
    }
    if (threadIdx.x == 0) losses[blockIdx.x] = logf(total) + largest - logits[first + right];
}

extern "C" void solve(const float* logits, const int* labels, float* losses, float* dlogits, int N, int C) {
    differentiate<<<N, THREADS>>>(logits, labels, losses, dlogits, N, C);
}
