// Tensor cores: a block makes 128 x 128 outputs, each of its 8 warps 64 x 32. Tiles of x and of the weights, made into halves on the way,
// lie in shared memory, as deep as a block of weights. The next tiles travel from memory to registers while these are multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, STRIDE = DEPTH + 8;

// A scale and eight of its weights.
struct Packed {
    __half scale;
    uint16_t pairs[4];
};

__device__ Packed fetch(const uint8_t* W, int n, int k0, int part, int K) {
    const uint8_t* block = W + ((size_t)n * (K / 32) + k0 / 32) * 34;
    Packed packed;
    packed.scale = *reinterpret_cast<const __half*>(block);
#pragma unroll
    for (int i = 0; i < 4; i++) packed.pairs[i] = __ldg(reinterpret_cast<const uint16_t*>(block + 2 + part + 2 * i));
    return packed;
}

__device__ void unpack(const Packed& packed, __half* to) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        to[2 * i] = __hmul(__int2half_rn((int8_t)packed.pairs[i]), packed.scale);
        to[2 * i + 1] = __hmul(__int2half_rn((int16_t)packed.pairs[i] >> 8), packed.scale);
    }
}

__global__ void __launch_bounds__(256) product(const uint8_t* __restrict__ W, const __half* __restrict__ x, __half* __restrict__ y, int M,
                                               int N, int K) {
    __shared__ __align__(16) __half xs[TILE][STRIDE], ws[TILE][STRIDE];
    __shared__ __align__(16) float out[8][16][20];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    // Each thread brings two rows' 8 elements of x and of the weights.
    int line = threadIdx.x / 4, part = threadIdx.x % 4 * 8;
    uint4 x_next[2];
    Packed w_next[2];
    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int r = row + line + 64 * i, c = min(column + line + 64 * i, N - 1);
            x_next[i] = r < M ? *reinterpret_cast<const uint4*>(&x[(size_t)r * K + k0 + part]) : make_uint4(0, 0, 0, 0);
            w_next[i] = fetch(W, c, k0, part, K);
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
            __align__(16) __half weights[8];
            unpack(w_next[i], weights);
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

extern "C" void solve(const uint8_t* W, const __half* x, __half* y, int M, int N, int K) {
    product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 256>>>(W, x, y, M, N, K);
}
