// Tensor cores: a block makes 128 x 128 outputs, each of its 8 warps 64 x 32. Tiles of x and of the weights, made into halves on
// the way, lie in shared memory, 32 deep. The next tiles travel from memory to registers while these are multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, STRIDE = DEPTH + 8;

// Eight weights of a row from k on, k a multiple of 8.
__device__ void unpack(uint32_t bytes, const __half* scales, int k, int K, int group_shift, __half* to) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int byte = bytes >> (8 * (i / 2)) & 255, nibble = i % 2 == 0 ? byte >> 4 : byte & 15;
        __half scale = k + i < K ? scales[(k + i) >> group_shift] : __float2half(0.0f);
        to[i] = __hmul(__int2half_rn(nibble - 8), scale);
    }
}

template <bool ALIGNED>
__global__ void __launch_bounds__(256) product(const __half* __restrict__ x, const uint8_t* __restrict__ w_q,
                                               const __half* __restrict__ scales, __half* __restrict__ y, int M, int N, int K,
                                               int group_shift) {
    __shared__ __align__(16) __half xs[TILE][STRIDE], ws[TILE][STRIDE];
    __shared__ __align__(16) float out[8][16][20];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    // Each thread brings two rows' 8 elements of x and of the weights.
    int line = threadIdx.x / 4, part = threadIdx.x % 4 * 8;
    uint4 x_next[2];
    uint32_t w_next[2];
    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int r = row + line + 64 * i, c = column + line + 64 * i, k = k0 + part;
            x_next[i] = make_uint4(0, 0, 0, 0);
            w_next[i] = 0;
            if (ALIGNED) {
                if (r < M && k < K) x_next[i] = *reinterpret_cast<const uint4*>(&x[(size_t)r * K + k]);
                if (c < N && k < K) w_next[i] = *reinterpret_cast<const uint32_t*>(&w_q[((size_t)c * K + k) / 2]);
            } else {
                __half* halves = reinterpret_cast<__half*>(&x_next[i]);
                for (int e = 0; e < 8; e++) {
                    if (r < M && k + e < K) halves[e] = x[(size_t)r * K + k + e];
                    if (e % 2 == 0 && c < N && k + e < K) w_next[i] |= (uint32_t)w_q[((size_t)c * K + k + e) / 2] << (4 * e);
                }
            }
        }
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
    for (auto& fragments : sum) {
        for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
    }
    load(0);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int c = min(column + line + 64 * i, N - 1);
            __align__(16) __half weights[8];
            unpack(w_next[i], scales + (size_t)c * (K >> group_shift), k0 + part, K, group_shift, weights);
            *reinterpret_cast<uint4*>(&xs[line + 64 * i][part]) = x_next[i];
            *reinterpret_cast<uint4*>(&ws[line + 64 * i][part]) = *reinterpret_cast<uint4*>(weights);
        }
        __syncthreads();
        if (k0 + DEPTH < K) load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b[2];
            for (int i = 0; i < 4; i++) wmma::load_matrix_sync(a[i], &xs[warp / 4 * 64 + 16 * i][k], STRIDE);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(b[j], &ws[warp % 4 * 32 + 16 * j][k], STRIDE);
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 2; j++) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            wmma::store_matrix_sync(&out[warp][0][0], sum[i][j], 20, wmma::mem_row_major);
            __syncwarp();
            for (int e = lane; e < 256; e += 32) {
                int r = row + warp / 4 * 64 + 16 * i + e / 16, c = column + warp % 4 * 32 + 16 * j + e % 16;
                if (r < M && c < N) y[(size_t)r * N + c] = __float2half(out[warp][e / 16][e % 16]);
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const __half* x, const uint8_t* w_q, const __half* scales, __half* y, int M, int N, int K, int group_size) {
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    int shift = 0;
    while (1 << shift < group_size) shift++;
    if (K % 8 == 0) {
        product<true><<<blocks, 256>>>(x, w_q, scales, y, M, N, K, shift);
    } else {
        product<false><<<blocks, 256>>>(x, w_q, scales, y, M, N, K, shift);
    }
}
