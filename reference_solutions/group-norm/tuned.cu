// A block of 1,024 threads per group. The first pass takes the sum and the sum of squares of what exceeds the group's first
// element (which keeps the numbers small where the mean is large); the second goes back from the end, so that it finds in
// the L2 cache what the first read last. 16-byte accesses where an image's size is a multiple of 4, so that four
// neighbours have one channel.
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

__device__ float2 block_sum(float2 value) {
    __shared__ float2 warps[32];
    for (int mask = 16; mask > 0; mask /= 2) {
        value.x += __shfl_xor_sync(0xffffffffu, value.x, mask);
        value.y += __shfl_xor_sync(0xffffffffu, value.y, mask);
    }
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = warps[threadIdx.x % 32];
    for (int mask = 16; mask > 0; mask /= 2) {
        value.x += __shfl_xor_sync(0xffffffffu, value.x, mask);
        value.y += __shfl_xor_sync(0xffffffffu, value.y, mask);
    }
    return value;
}

template <int VEC>
__global__ void __launch_bounds__(THREADS) group_norm(const float* __restrict__ X, const float* __restrict__ gamma,
                                                      const float* __restrict__ beta, float* __restrict__ Y, int channels, int pixels,
                                                      int G, float eps) {
    int count = channels * pixels, vectors = count / VEC;
    const float* x = X + (size_t)blockIdx.x * count;
    float* y = Y + (size_t)blockIdx.x * count;
    int first_channel = blockIdx.x % G * channels;
    float base = x[0];
    float2 sum = make_float2(0.0f, 0.0f);
#pragma unroll 4
    for (int i = threadIdx.x; i < vectors; i += THREADS) {
        float v[VEC];
        if constexpr (VEC == 4) {
            *reinterpret_cast<float4*>(v) = reinterpret_cast<const float4*>(x)[i];
        } else {
            v[0] = x[i];
        }
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            float away = v[k] - base;
            sum.x += away;
            sum.y = fmaf(away, away, sum.y);
        }
    }
    sum = block_sum(sum);
    float mean = sum.x / count;
    float scale = 1.0f / sqrtf(fmaxf(sum.y / count - mean * mean, 0.0f) + eps);
    mean += base;
    int per_channel = pixels / VEC;
    if ((int)threadIdx.x >= vectors) return;
    int last = threadIdx.x + (vectors - 1 - threadIdx.x) / THREADS * THREADS;
#pragma unroll 4
    for (int i = last; i >= 0; i -= THREADS) {
        int c = first_channel + i / per_channel;
        float g = gamma[c] * scale, b = fmaf(-mean, g, beta[c]);
        if constexpr (VEC == 4) {
            float4 v = __ldcs(reinterpret_cast<const float4*>(x) + i);
            __stcs(reinterpret_cast<float4*>(y) + i, make_float4(fmaf(v.x, g, b), fmaf(v.y, g, b), fmaf(v.z, g, b), fmaf(v.w, g, b)));
        } else {
            y[i] = fmaf(x[i], g, b);
        }
    }
}

extern "C" void solve(const float* X, const float* gamma, const float* beta, float* Y, int N, int C, int H, int W, int G, float eps) {
    if (H * W % 4 == 0) {
        group_norm<4><<<N * G, THREADS>>>(X, gamma, beta, Y, C / G, H * W, G, eps);
    } else {
        group_norm<1><<<N * G, THREADS>>>(X, gamma, beta, Y, C / G, H * W, G, eps);
    }
}
