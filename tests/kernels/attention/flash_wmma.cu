// Flash attention with wmma: 64 queries to a block of four warps, 16 to each. Scores and results go through shared memory,
// where the warp that made them keeps up the maxima and the sums.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int WIDTH = 64, TILE = 64, STRIDE = WIDTH + 8, SCORES = TILE + 4;

struct Tiles {
    half q[TILE][STRIDE], k[TILE][STRIDE], v[TILE][STRIDE], p[TILE][STRIDE];
    float s[TILE][SCORES], result[TILE][SCORES];
};

__device__ void load_tile(half (*tile)[STRIDE], const half *from) {
    for (int i = threadIdx.x; i < TILE * WIDTH / 8; i += 128) {
        *reinterpret_cast<int4 *>(&tile[i / 8][i % 8 * 8]) = reinterpret_cast<const int4 *>(from)[i];
    }
}

__global__ void __launch_bounds__(128) attend(const half *__restrict__ Q, const half *__restrict__ K, const half *__restrict__ V,
                                              float *__restrict__ out, int length) {
    extern __shared__ __align__(32) unsigned char memory[];
    Tiles &tiles = *reinterpret_cast<Tiles *>(memory);
    int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * 16;
    // Two lanes to a row, each with every other column.
    int row = first_row + lane / 2, side = lane % 2;
    size_t head = (size_t)blockIdx.y * length * WIDTH;
    load_tile(tiles.q, Q + head + (size_t)blockIdx.x * TILE * WIDTH);
    for (int i = side; i < WIDTH; i += 2) tiles.result[row][i] = 0;
    float largest = -1e30f, denominator = 0;
    for (int first = 0; first < length; first += TILE) {
        __syncthreads();
        load_tile(tiles.k, K + head + first * WIDTH);
        load_tile(tiles.v, V + head + first * WIDTH);
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
        for (int column = 0; column < TILE; column += 16) {
            wmma::fill_fragment(c, 0.0f);
#pragma unroll
            for (int d = 0; d < WIDTH; d += 16) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, &tiles.q[first_row][d], STRIDE);
                wmma::load_matrix_sync(b, &tiles.k[column][d], STRIDE);
                wmma::mma_sync(c, a, b, c);
            }
            wmma::store_matrix_sync(&tiles.s[first_row][column], c, SCORES, wmma::mem_row_major);
        }
        __syncwarp();
        float next = largest;
        for (int i = side; i < TILE; i += 2) next = fmaxf(next, tiles.s[row][i] * 0.125f);
        next = fmaxf(next, __shfl_xor_sync(0xffffffff, next, 1));
        float rescale = __expf(largest - next), sum = 0;
        largest = next;
        for (int i = side; i < TILE; i += 2) {
            float weight = __expf(tiles.s[row][i] * 0.125f - next);
            tiles.p[row][i] = __float2half(weight);
            sum += weight;
        }
        denominator = denominator * rescale + sum + __shfl_xor_sync(0xffffffff, sum, 1);
        for (int i = side; i < WIDTH; i += 2) tiles.result[row][i] *= rescale;
        __syncwarp();
        for (int column = 0; column < WIDTH; column += 16) {
            wmma::load_matrix_sync(c, &tiles.result[first_row][column], SCORES, wmma::mem_row_major);
#pragma unroll
            for (int d = 0; d < TILE; d += 16) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, &tiles.p[first_row][d], STRIDE);
                wmma::load_matrix_sync(b, &tiles.v[d][column], STRIDE);
                wmma::mma_sync(c, a, b, c);
            }
            wmma::store_matrix_sync(&tiles.result[first_row][column], c, SCORES, wmma::mem_row_major);
        }
        __syncwarp();
    }
    float *to = out + head + (size_t)blockIdx.x * TILE * WIDTH;
    for (int i = 0; i < 16; i++) {
        float factor = 1 / __shfl_sync(0xffffffff, denominator, 2 * i);
        for (int j = lane; j < WIDTH; j += 32) to[(first_row + i) * WIDTH + j] = tiles.result[first_row + i][j] * factor;
    }
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles));
    attend<<<dim3(length / TILE, heads), 128, sizeof(Tiles)>>>(Q, K, V, out, length);
}
