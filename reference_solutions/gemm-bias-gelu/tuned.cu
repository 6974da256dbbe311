// Tensor cores: a block makes 128 x 128 outputs, each of its 8 warps 64 x 32, from tiles 32 deep in shared memory; the next tiles
// travel to registers meanwhile. Sums pass through shared memory, where bias and GELU are applied.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, A_STRIDE = DEPTH + 8, B_STRIDE = TILE + 8;

__device__ float gelu(float z) {
    float x = 1.5957691216057308f * fmaf(0.044715f * z * z, z, z);
    return z - __fdividef(z, __expf(x) + 1.0f);
}

// Eight neighbours of a row, 0 where they are outside.
template <bool ALIGNED>
__device__ uint4 eight(const half* from, int row, int rows, int column, int columns) {
    uint4 loaded = make_uint4(0, 0, 0, 0);
    if (row >= rows) return loaded;
    if (ALIGNED) {
        if (column < columns) loaded = *reinterpret_cast<const uint4*>(&from[(size_t)row * columns + column]);
    } else {
        half* halves = reinterpret_cast<half*>(&loaded);
        for (int e = 0; e < 8; e++) {
            if (column + e < columns) halves[e] = from[(size_t)row * columns + column + e];
        }
    }
    return loaded;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(256) product(const half* __restrict__ A, const half* __restrict__ B, const half* __restrict__ bias,
                                               half* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) half as[TILE][A_STRIDE], bs[DEPTH][B_STRIDE];
    __shared__ __align__(16) float out[8][16][20];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    uint4 a_next[2], b_next[2];
    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            a_next[i] = eight<ALIGNED>(A, row + t / 4 + 64 * i, M, k0 + t % 4 * 8, K);
            b_next[i] = eight<ALIGNED>(B, k0 + t / 16 + 16 * i, K, column + t % 16 * 8, N);
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
            *reinterpret_cast<uint4*>(&as[t / 4 + 64 * i][t % 4 * 8]) = a_next[i];
            *reinterpret_cast<uint4*>(&bs[t / 16 + 16 * i][t % 16 * 8]) = b_next[i];
        }
        __syncthreads();
        if (k0 + DEPTH < K) load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
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
                if (r < M && c < N) C[(size_t)r * N + c] = __float2half(gelu(out[warp][e / 16][e % 16] + __half2float(bias[c])));
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const half* A, const half* B, const half* bias, half* C, int M, int N, int K) {
    dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    if (N % 8 == 0 && K % 8 == 0) {
        product<true><<<blocks, 256>>>(A, B, bias, C, M, N, K);
    } else {
        product<false><<<blocks, 256>>>(A, B, bias, C, M, N, K);
    }
}
