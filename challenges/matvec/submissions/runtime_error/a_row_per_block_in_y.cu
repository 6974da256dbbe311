// expect: verdict=RE,WA case=m-65536-n-3
// A block for each row, in y, where a grid has no more than 65,535.
#include <cuda_runtime.h>

__global__ void product(const float* A, const float* x, float* y, int n) {
    __shared__ float sums[64];
    float sum = 0.0f;
    for (int j = threadIdx.x; j < n; j += 64) sum += A[(size_t)blockIdx.y * n + j] * x[j];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.y] = sums[0];
}

extern "C" void solve(const float* A, const float* x, float* y, int M, int N) { product<<<dim3(1, M), 64>>>(A, x, y, N); }
