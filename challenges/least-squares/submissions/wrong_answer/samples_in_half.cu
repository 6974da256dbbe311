// The normal equations from samples in half precision, with sums in single precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float half_of(float x) { return __half2float(__float2half(x)); }

__global__ void products(const float* X, const float* y, float* gram, float* right, int n, int f) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j > f) return;
    float sum = 0.0f;
    for (int r = 0; r < n; r++) sum += half_of(X[(long long)r * f + i]) * (j < f ? half_of(X[(long long)r * f + j]) : y[r]);
    if (j < f) gram[i * f + j] = sum;
    else right[i] = sum;
}

constexpr int SYSTEM_THREADS = 512;

// Solves gram * x = right in one block; x replaces right. Reads and replaces the lower half of gram.
__global__ void __launch_bounds__(SYSTEM_THREADS) solve_system(float* gram, float* right, int f) {
    for (int k = 0; k < f; k++) {
        float root = sqrtf(gram[k * f + k]);
        __syncthreads();
        for (int i = k + threadIdx.x; i < f; i += SYSTEM_THREADS) gram[i * f + k] = i == k ? root : gram[i * f + k] / root;
        // The first triangular system goes along: it takes each column as soon as that is there.
        float z = right[k] / root;
        __syncthreads();
        for (int i = k + threadIdx.x; i < f; i += SYSTEM_THREADS) right[i] = i == k ? z : right[i] - gram[i * f + k] * z;
        int left = f - k - 1;
        for (int e = threadIdx.x; e < left * left; e += SYSTEM_THREADS) {
            int i = k + 1 + e / left, j = k + 1 + e % left;
            if (j <= i) gram[i * f + j] -= gram[i * f + k] * gram[j * f + k];
        }
        __syncthreads();
    }
    for (int k = f - 1; k >= 0; k--) {
        float x = right[k] / gram[k * f + k];
        __syncthreads();
        for (int i = threadIdx.x; i <= k; i += SYSTEM_THREADS) right[i] = i == k ? x : right[i] - gram[k * f + i] * x;
        __syncthreads();
    }
}

extern "C" void solve(const float* X, const float* y, float* beta, int n_samples, int n_features) {
    int f = n_features;
    float* gram;
    cudaMalloc(&gram, sizeof(float) * f * f);
    products<<<dim3((f + 1 + 63) / 64, f), 64>>>(X, y, gram, beta, n_samples, f);
    solve_system<<<1, SYSTEM_THREADS>>>(gram, beta, f);
    cudaFree(gram);
}
