// A block of four warps per token that loads both rows once, by 16 bytes where their length allows, and keeps the sum in
// registers through mean, variance and output. Sums go through shuffles and four words of shared memory.
#include <cuda_runtime.h>

constexpr int WARPS = 4;
constexpr int THREADS = 32 * WARPS;

__device__ float block_sum(float value) {
    __shared__ float warps[WARPS];
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = (warps[0] + warps[1]) + (warps[2] + warps[3]);
    __syncthreads();
    return value;
}

template <int VEC, int HELD>
__global__ void __launch_bounds__(THREADS) embed(const int* __restrict__ token_ids, const int* __restrict__ position_ids,
                                                 const float* __restrict__ tokens, const float* __restrict__ positions,
                                                 const float* __restrict__ gamma, const float* __restrict__ beta,
                                                 float* __restrict__ output, int T, int D, float eps) {
    const float* a = tokens + (size_t)token_ids[blockIdx.x] * D;
    const float* b = positions + (size_t)position_ids[blockIdx.x % T] * D;
    float* to = output + (size_t)blockIdx.x * D;
    float x[HELD][VEC];
    float sum = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int d = (h * THREADS + threadIdx.x) * VEC;
        if (d >= D) continue;
        if constexpr (VEC == 4) {
            float4 u = *reinterpret_cast<const float4*>(a + d), v = *reinterpret_cast<const float4*>(b + d);
            x[h][0] = u.x + v.x, x[h][1] = u.y + v.y, x[h][2] = u.z + v.z, x[h][3] = u.w + v.w;
        } else {
            x[h][0] = a[d] + b[d];
        }
#pragma unroll
        for (int k = 0; k < VEC; k++) sum += x[h][k];
    }
    float mean = block_sum(sum) / D;
    float squares = 0.0f;
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        if ((h * THREADS + threadIdx.x) * VEC >= D) continue;
#pragma unroll
        for (int k = 0; k < VEC; k++) {
            x[h][k] -= mean;
            squares = fmaf(x[h][k], x[h][k], squares);
        }
    }
    float scale = rsqrtf(block_sum(squares) / D + eps);
#pragma unroll
    for (int h = 0; h < HELD; h++) {
        int d = (h * THREADS + threadIdx.x) * VEC;
        if (d >= D) continue;
        if constexpr (VEC == 4) {
            float4 g = *reinterpret_cast<const float4*>(gamma + d), s = *reinterpret_cast<const float4*>(beta + d);
            __stcs(reinterpret_cast<float4*>(to + d),
                   make_float4(fmaf(x[h][0] * scale, g.x, s.x), fmaf(x[h][1] * scale, g.y, s.y), fmaf(x[h][2] * scale, g.z, s.z), fmaf(x[h][3] * scale, g.w, s.w)));
        } else {
            to[d] = fmaf(x[h][0] * scale, gamma[d], beta[d]);
        }
    }
}

extern "C" void solve(const int* token_ids, const int* position_ids, const float* token_embeddings, const float* position_embeddings,
                      const float* gamma, const float* beta, float* output, int B, int T, int V, int P, int D, float eps) {
    if (D % 4 == 0) {
        embed<4, 4><<<B * T, THREADS>>>(token_ids, position_ids, token_embeddings, position_embeddings, gamma, beta, output, T, D, eps);
    } else {
        embed<1, 16><<<B * T, THREADS>>>(token_ids, position_ids, token_embeddings, position_embeddings, gamma, beta, output, T, D, eps);
    }
}
