// expect: case=n-2203-c-70 cuda=WA,AC
// A block goes through several rows without a barrier between them: a warp that is ahead writes its sum of the next row before
// others have read that of this one.
#include <cuda_runtime.h>

__device__ float2 block_sums(float left, float right) {
    __shared__ float2 of_warp[8];
    for (int mask = 16; mask > 0; mask /= 2) {
        left += __shfl_xor_sync(0xffffffffu, left, mask);
        right += __shfl_xor_sync(0xffffffffu, right, mask);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = make_float2(left, right);
    __syncthreads();
    left = right = 0.0f;
    for (int w = 0; w < 8; w++) {
        left += of_warp[w].x;
        right += of_warp[w].y;
    }
    return make_float2(left, right);
}

__global__ void layer_norm(const float* input, const float* weight, const float* bias, float* output, int N, int C, float eps) {
    for (size_t n = blockIdx.x; n < N; n += gridDim.x) {
        const float* row = input + n * C;
        float first = row[0], sum = 0.0f, squares = 0.0f;
        for (int c = threadIdx.x; c < C; c += 256) {
            float x = row[c] - first;
            sum += x;
            squares += x * x;
        }
        float2 sums = block_sums(sum, squares);
        float mean = sums.x / C, scale = 1.0f / sqrtf(fmaxf(sums.y / C - mean * mean, 0.0f) + eps);
        for (int c = threadIdx.x; c < C; c += 256) output[n * C + c] = (row[c] - first - mean) * scale * weight[c] + bias[c];
    }
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int N, int C, float eps) {
    layer_norm<<<min(N, 1056), 256>>>(input, weight, bias, output, N, C, eps);
}
