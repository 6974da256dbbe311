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

__global__ void add_rms_norm(const float* x, const float* residual, const float* weight, float* out, int N, int C, float eps) {
    for (size_t n = blockIdx.x; n < N; n += gridDim.x) {
        float sum = 0.0f;
        for (int c = threadIdx.x; c < C; c += 256) {
            float z = x[n * C + c] + residual[n * C + c];
            sum += z * z;
        }
        float scale = 1.0f / sqrtf(block_sums(sum, 0.0f).x / C + eps);
        for (int c = threadIdx.x; c < C; c += 256) out[n * C + c] = (x[n * C + c] + residual[n * C + c]) * scale * weight[c];
    }
}

extern "C" void solve(const float* x, const float* residual, const float* weight, float* out, int N, int C, float eps) {
    add_rms_norm<<<min(N, 1056), 256>>>(x, residual, weight, out, N, C, eps);
}
