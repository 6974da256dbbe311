// Newton's method from samples in TF32 (ten bits of the fraction), with sums in single precision.
#include <cuda_runtime.h>

// Leaves the weight p (1 - p) and the residual p - y of each sample.
__device__ float narrow(float x) { return __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u); }

__global__ void predict(const float* X, const float* y, const float* beta, float* weights, float* residuals, int n, int f) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < f; j++) sum += narrow(X[(long long)r * f + j]) * beta[j];
    float p = 1.0f / (1.0f + expf(-sum));
    weights[r] = p * (1.0f - p);
    residuals[r] = p - y[r];
}

__global__ void products(const float* X, const float* weights, const float* residuals, float* gram, float* right, int n, int f) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    if (j > f) return;
    float sum = 0.0f;
    for (int r = 0; r < n; r++) {
        float x = narrow(X[(long long)r * f + i]);
        sum += j < f ? x * weights[r] * narrow(X[(long long)r * f + j]) : x * residuals[r];
    }
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

// Takes the step, and leaves the size of its largest element.
__global__ void update(float* beta, const float* step, int f, float* largest) {
    __shared__ float of_thread[256];
    float mine = 0.0f;
    for (int j = threadIdx.x; j < f; j += 256) {
        beta[j] -= step[j];
        mine = fmaxf(mine, fabsf(step[j]));
    }
    of_thread[threadIdx.x] = mine;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) of_thread[threadIdx.x] = fmaxf(of_thread[threadIdx.x], of_thread[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *largest = of_thread[0];
}

extern "C" void solve(const float* X, const float* y, float* beta, int n_samples, int n_features) {
    int n = n_samples, f = n_features;
    float* room;
    cudaMalloc(&room, sizeof(float) * (2 * n + f * f + f + 1));
    float *weights = room, *residuals = weights + n, *gram = residuals + n, *right = gram + f * f, *largest = right + f;
    cudaMemset(beta, 0, sizeof(float) * f);
    float step = 1.0f;
    for (int i = 0; i < 30 && step > 1e-5f; i++) {
        predict<<<(n + 127) / 128, 128>>>(X, y, beta, weights, residuals, n, f);
        products<<<dim3((f + 1 + 63) / 64, f), 64>>>(X, weights, residuals, gram, right, n, f);
        solve_system<<<1, SYSTEM_THREADS>>>(gram, right, f);
        update<<<1, 256>>>(beta, right, f, largest);
        cudaMemcpy(&step, largest, sizeof(float), cudaMemcpyDeviceToHost);
    }
    cudaFree(room);
}
