// Each block adds up 256 samples in shared memory, as a tree, and adds its share of the estimate to the result, which is
// zero on entry.
#include <cuda_runtime.h>

__global__ void integrate(const float* y_samples, float* result, float factor, int n_samples) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n_samples ? y_samples[i] : 0.0f;
    for (int distance = 128; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) atomicAdd(result, part[0] * factor);
}

extern "C" void solve(const float* y_samples, float* result, float a, float b, int n_samples) {
    integrate<<<(n_samples + 255) / 256, 256>>>(y_samples, result, (b - a) / n_samples, n_samples);
}
