// The same three passes, with sums by shuffles: two barriers a sum.
#include <cuda_runtime.h>

__device__ float block_sum(float value) {
    __shared__ float of_warp[8];
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int w = 0; w < 8; w++) value += of_warp[w];
    return value;
}

__global__ void layer_norm(const float* input, const float* weight, const float* bias, float* output, int C, float eps) {
    const float* row = input + (size_t)blockIdx.x * C;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < C; c += 256) sum += row[c];
    float mean = block_sum(sum) / C;
    float squares = 0.0f;
    for (int c = threadIdx.x; c < C; c += 256) squares += (row[c] - mean) * (row[c] - mean);
    float scale = 1.0f / sqrtf(block_sum(squares) / C + eps);
    for (int c = threadIdx.x; c < C; c += 256) output[(size_t)blockIdx.x * C + c] = (row[c] - mean) * scale * weight[c] + bias[c];
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int N, int C, float eps) {
    layer_norm<<<N, 256>>>(input, weight, bias, output, C, eps);
}
