// A block per token, three passes over the two rows: mean, variance, output. Sums are halved in shared memory.
#include <cuda_runtime.h>

__device__ float block_sum(float value) {
    __shared__ float shared[128];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int stride = 64; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void embed(const int* token_ids, const int* position_ids, const float* tokens, const float* positions, const float* gamma,
                      const float* beta, float* output, int T, int D, float eps) {
    const float* a = tokens + (size_t)token_ids[blockIdx.x] * D;
    const float* b = positions + (size_t)position_ids[blockIdx.x % T] * D;
    float sum = 0.0f;
    for (int d = threadIdx.x; d < D; d += 128) sum += a[d] + b[d];
    float mean = block_sum(sum) / D;
    float squares = 0.0f;
    for (int d = threadIdx.x; d < D; d += 128) {
        float x = a[d] + b[d] - mean;
        squares += x * x;
    }
    float scale = 1.0f / sqrtf(block_sum(squares) / D + eps);
    for (int d = threadIdx.x; d < D; d += 128) output[(size_t)blockIdx.x * D + d] = (a[d] + b[d] - mean) * scale * gamma[d] + beta[d];
}

extern "C" void solve(const int* token_ids, const int* position_ids, const float* token_embeddings, const float* position_embeddings,
                      const float* gamma, const float* beta, float* output, int B, int T, int V, int P, int D, float eps) {
    embed<<<B * T, 128>>>(token_ids, position_ids, token_embeddings, position_embeddings, gamma, beta, output, T, D, eps);
}
