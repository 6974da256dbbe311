// Tensor cores, one launch for all experts: a block counts tiles from the offsets to find its 128 tokens, and makes 128 outputs of each,
// each of its 8 warps 64 x 32. The next tiles travel from memory to registers while these are multiplied.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 128, DEPTH = 32, X_STRIDE = DEPTH + 8, W_STRIDE = TILE + 8;

__global__ void __launch_bounds__(256) product(const __half* __restrict__ x, const __half* __restrict__ weights,
                                               const int* __restrict__ offsets, __half* __restrict__ y, int num_experts, int d_in,
                                               int d_out) {
    __shared__ __align__(16) __half xs[TILE][X_STRIDE], ws[DEPTH][W_STRIDE];
    __shared__ __align__(16) float out[8][16][20];
    __shared__ int found[3];
    if (threadIdx.x == 0) {
        int tiles = 0, expert = 0;
        found[0] = -1;
        for (; expert < num_experts; expert++) {
            int first = offsets[expert], end = offsets[expert + 1], own = (end - first + TILE - 1) / TILE;
            if ((int)blockIdx.y < tiles + own) {
                found[0] = expert;
                found[1] = first + ((int)blockIdx.y - tiles) * TILE;
                found[2] = end;
                break;
            }
            tiles += own;
        }
    }
    __syncthreads();
    if (found[0] < 0) return;
    int row = found[1], end = found[2], column = blockIdx.x * TILE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const __half* matrix = weights + (size_t)found[0] * d_in * d_out;
    // Each thread brings two times 8 elements of x and of the weights.
    int x_row = threadIdx.x / 4, x_part = threadIdx.x % 4 * 8, w_row = threadIdx.x / 16, w_part = threadIdx.x % 16 * 8;
    uint4 x_next[2], w_next[2];
    auto load = [&](int k0) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            int r = row + x_row + 64 * i, k = k0 + w_row + 16 * i, c = column + w_part;
            x_next[i] = w_next[i] = make_uint4(0, 0, 0, 0);
            if (r < end && k0 + x_part < d_in) x_next[i] = *reinterpret_cast<const uint4*>(&x[(size_t)r * d_in + k0 + x_part]);
            if (k < d_in && c < d_out) w_next[i] = *reinterpret_cast<const uint4*>(&matrix[(size_t)k * d_out + c]);
        }
    };
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][2];
    for (auto& fragments : sum) {
        for (auto& fragment : fragments) wmma::fill_fragment(fragment, 0.0f);
    }
    load(0);
    for (int k0 = 0; k0 < d_in; k0 += DEPTH) {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            *reinterpret_cast<uint4*>(&xs[x_row + 64 * i][x_part]) = x_next[i];
            *reinterpret_cast<uint4*>(&ws[w_row + 16 * i][w_part]) = w_next[i];
        }
        __syncthreads();
        if (k0 + DEPTH < d_in) load(k0 + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a[4];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[2];
            for (int i = 0; i < 4; i++) wmma::load_matrix_sync(a[i], &xs[warp / 4 * 64 + 16 * i][k], X_STRIDE);
            for (int j = 0; j < 2; j++) wmma::load_matrix_sync(b[j], &ws[k][warp % 4 * 32 + 16 * j], W_STRIDE);
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
                if (r < end && c < d_out) y[(size_t)r * d_out + c] = __float2half(out[warp][e / 16][e % 16]);
            }
            __syncwarp();
        }
    }
}

extern "C" void solve(const __half* x, const __half* weights, const int* offsets, __half* y, int num_tokens, int num_experts, int d_in,
                      int d_out) {
    dim3 blocks((d_out + TILE - 1) / TILE, num_tokens / TILE + min(num_experts, num_tokens));
    if (num_tokens > 0) product<<<blocks, 256>>>(x, weights, offsets, y, num_experts, d_in, d_out);
}
