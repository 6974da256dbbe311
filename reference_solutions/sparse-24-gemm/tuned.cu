// Dense tensor cores: a block makes 128 x 128 outputs, each of its 8 warps 64 x 32. Tiles of A get their zeros on the way into shared
// memory, two numbers of a group in one 64-bit word. The next tiles travel from memory to registers while these are multiplied.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, A_STRIDE = DEPTH + 8, B_STRIDE = TILE + 8;

// A group of four from its two numbers, which are the halves of a word, and its four bits.
__device__ uint2 group(uint32_t pair, uint32_t bits) {
    uint64_t four = (uint64_t)(pair & 0xffff) << (bits % 4 * 16) | (uint64_t)(pair >> 16) << (bits / 4 % 4 * 16);
    return make_uint2((uint32_t)four, (uint32_t)(four >> 32));
}

__global__ void __launch_bounds__(256) product(const __half* __restrict__ values, const uint8_t* __restrict__ indices,
                                               const __half* __restrict__ B, __half* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) __half as[TILE][A_STRIDE], bs[DEPTH][B_STRIDE];
    __shared__ __align__(16) float out[8][16][20];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    // Each thread brings 16 columns of a row of A, and two times 8 elements of B.
    int a_row = threadIdx.x / 2, a_part = threadIdx.x % 2 * 16, b_row = threadIdx.x / 16, b_part = threadIdx.x % 16 * 8;
    uint4 kept, b_next[2];
    uint32_t bits;
    auto load = [&](int k0) {
        size_t r = row + a_row, k = k0 + a_part;
        kept = make_uint4(0, 0, 0, 0);
        bits = 0;
        if (r < M && k < K) {
            kept = *reinterpret_cast<const uint4*>(&values[(r * K + k) / 2]);
            bits = *reinterpret_cast<const uint16_t*>(&indices[(r * K + k) / 8]);
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int line = k0 + b_row + 16 * i, c = column + b_part;
            b_next[i] = make_uint4(0, 0, 0, 0);
            if (line < K && c < N) b_next[i] = *reinterpret_cast<const uint4*>(&B[(size_t)line * N + c]);
        }
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
    for (auto& fragments : sum) {
        for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
    }
    load(0);
    for (int k0 = 0; k0 < K; k0 += DEPTH) {
        uint2 first = group(kept.x, bits), second = group(kept.y, bits >> 4), third = group(kept.z, bits >> 8);
        uint2 last = group(kept.w, bits >> 12);
        *reinterpret_cast<uint4*>(&as[a_row][a_part]) = make_uint4(first.x, first.y, second.x, second.y);
        *reinterpret_cast<uint4*>(&as[a_row][a_part + 8]) = make_uint4(third.x, third.y, last.x, last.y);
#pragma unroll
        for (int i = 0; i < 2; i++) *reinterpret_cast<uint4*>(&bs[b_row + 16 * i][b_part]) = b_next[i];
        __syncthreads();
        if (k0 + DEPTH < K) load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[2];
            for (int i = 0; i < 4; i++) wmma::load_matrix_sync(a[i], &as[warp / 4 * 64 + 16 * i][k], A_STRIDE);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(b[j], &bs[k][warp % 4 * 32 + 16 * j], B_STRIDE);
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
                if (r < M && c < N) C[(size_t)r * N + c] = __float2half(out[warp][e / 16][e % 16]);
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const __half* values, const uint8_t* indices, const __half* B, __half* C, int M, int N, int K) {
    product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 256>>>(values, indices, B, C, M, N, K);
}
