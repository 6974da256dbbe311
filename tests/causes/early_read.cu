// challenge: dot-product
// verdict: WA
// told: which the host reads at kernel.cu:24 before it has waited for that
#include <cuda_runtime.h>

// Each block writes its part of the sum, and the host adds the parts.
__global__ void dot(const float* A, const float* B, float* parts, int N) {
    __shared__ float sums[256];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += A[i] * B[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = sums[0];
}

static float add(const float* parts, int blocks) {
    float sum = 0.0f;
    for (int i = 0; i < blocks; ++i) {
        // The device may not have written it yet.
        sum += parts[i];
    }
    return sum;
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    int blocks = (N + 1023) / 1024;
    float* parts;
    cudaMallocHost(&parts, blocks * sizeof(float));
    for (int i = 0; i < blocks; ++i) parts[i] = 0.0f;
    dot<<<blocks, 256>>>(A, B, parts, N);
    float sum = add(parts, blocks);
    cudaMemcpy(result, &sum, sizeof(float), cudaMemcpyHostToDevice);
    cudaFreeHost(parts);
}
