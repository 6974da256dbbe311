// Tensor cores by wmma. A block of eight warps makes a tile of 128 x 128 of one product (64 x 64 where the matrices are
// small), each warp 2 x 4 or 1 x 2 fragments of it, in steps of 32 along K. Tiles lie in shared memory, in rows padded by 16
// bytes; the next ones come into registers, in pieces of eight halves, while the present ones are multiplied, and go into
// the other half of a double buffer. Where K or N is not a multiple of eight, pieces are gathered half by half. Sums go
// through shared memory, a fragment at a time per warp, to be rounded and written side by side.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

constexpr int DEPTH = 32;
constexpr int WARPS_DOWN = 4, WARPS_ACROSS = 2, THREADS = 32 * WARPS_DOWN * WARPS_ACROSS;

union Piece {
    uint4 whole;
    half part[8];
};

// The eight halves from a column on; zeros for what lies outside.
template <bool ALIGNED>
__device__ uint4 load_piece(const half* matrix, int row, int rows, int column, int width) {
    Piece piece;
    piece.whole = make_uint4(0, 0, 0, 0);
    if (row < rows) {
        const half* from = matrix + (size_t)row * width + column;
        if (ALIGNED) {
            if (column < width) piece.whole = *reinterpret_cast<const uint4*>(from);
        } else {
#pragma unroll
            for (int j = 0; j < 8; j++)
                if (column + j < width) piece.part[j] = from[j];
        }
    }
    return piece.whole;
}

template <int DOWN, int ACROSS, bool ALIGNED>
__global__ void __launch_bounds__(THREADS)
    multiply(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K) {
    constexpr int ROWS = WARPS_DOWN * DOWN * 16, COLUMNS = WARPS_ACROSS * ACROSS * 16;
    constexpr int A_PIECES = ROWS * DEPTH / 8 / THREADS, B_PIECES = COLUMNS * DEPTH / 8 / THREADS;
    __shared__ __align__(128) half a[2][ROWS][DEPTH + 8];
    __shared__ __align__(128) half b[2][DEPTH][COLUMNS + 8];

    A += (size_t)blockIdx.z * M * K;
    B += (size_t)blockIdx.z * K * N;
    C += (size_t)blockIdx.z * M * N;
    int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS;
    int warp = threadIdx.x / 32;
    int warp_row = warp / WARPS_ACROSS * DOWN * 16, warp_column = warp % WARPS_ACROSS * ACROSS * 16;

    uint4 next_a[A_PIECES], next_b[B_PIECES];
    auto load = [&](int step) {
#pragma unroll
        for (int j = 0; j < A_PIECES; j++) {
            int i = j * THREADS + threadIdx.x;
            next_a[j] = load_piece<ALIGNED>(A, first_row + i / (DEPTH / 8), M, step * DEPTH + i % (DEPTH / 8) * 8, K);
        }
#pragma unroll
        for (int j = 0; j < B_PIECES; j++) {
            int i = j * THREADS + threadIdx.x;
            next_b[j] = load_piece<ALIGNED>(B, step * DEPTH + i / (COLUMNS / 8), K, first_column + i % (COLUMNS / 8) * 8, N);
        }
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int j = 0; j < A_PIECES; j++) {
            int i = j * THREADS + threadIdx.x;
            *reinterpret_cast<uint4*>(&a[buffer][i / (DEPTH / 8)][i % (DEPTH / 8) * 8]) = next_a[j];
        }
#pragma unroll
        for (int j = 0; j < B_PIECES; j++) {
            int i = j * THREADS + threadIdx.x;
            *reinterpret_cast<uint4*>(&b[buffer][i / (COLUMNS / 8)][i % (COLUMNS / 8) * 8]) = next_b[j];
        }
    };

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[DOWN][ACROSS];
#pragma unroll
    for (int i = 0; i < DOWN; i++)
#pragma unroll
        for (int j = 0; j < ACROSS; j++) wmma::fill_fragment(sum[i][j], 0.0f);

    int steps = (K + DEPTH - 1) / DEPTH;
    load(0);
    store(0);
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        int buffer = step % 2;
        if (step + 1 < steps) load(step + 1);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[DOWN];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[ACROSS];
#pragma unroll
            for (int i = 0; i < DOWN; i++) wmma::load_matrix_sync(left[i], &a[buffer][warp_row + i * 16][k], DEPTH + 8);
#pragma unroll
            for (int j = 0; j < ACROSS; j++) wmma::load_matrix_sync(right[j], &b[buffer][k][warp_column + j * 16], COLUMNS + 8);
#pragma unroll
            for (int i = 0; i < DOWN; i++)
#pragma unroll
                for (int j = 0; j < ACROSS; j++) wmma::mma_sync(sum[i][j], left[i], right[j], sum[i][j]);
        }
        if (step + 1 < steps) store(1 - buffer);
        __syncthreads();
    }

    // The tiles are done with: each warp takes a part of their room for one fragment of sums.
    float* mine = reinterpret_cast<float*>(&a[0][0][0]) + warp * 256;
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < ACROSS; j++) {
            wmma::store_matrix_sync(mine, sum[i][j], 16, wmma::mem_row_major);
            __syncwarp();
            for (int place = lane; place < 256; place += 32) {
                int row = first_row + warp_row + i * 16 + place / 16;
                int column = first_column + warp_column + j * 16 + place % 16;
                if (row < M && column < N) C[(size_t)row * N + column] = __float2half(mine[place]);
            }
            __syncwarp();
        }
    }
}

template <int DOWN, int ACROSS>
void launch(const half* A, const half* B, half* C, int BATCH, int M, int N, int K) {
    constexpr int ROWS = WARPS_DOWN * DOWN * 16, COLUMNS = WARPS_ACROSS * ACROSS * 16;
    dim3 blocks((N + COLUMNS - 1) / COLUMNS, (M + ROWS - 1) / ROWS, BATCH);
    if (K % 8 == 0 && N % 8 == 0) {
        multiply<DOWN, ACROSS, true><<<blocks, THREADS>>>(A, B, C, M, N, K);
    } else {
        multiply<DOWN, ACROSS, false><<<blocks, THREADS>>>(A, B, C, M, N, K);
    }
}

extern "C" void solve(const half* A, const half* B, half* C, int BATCH, int M, int N, int K) {
    if (M > 64 && N > 64) {
        launch<2, 4>(A, B, C, BATCH, M, N, K);
    } else {
        launch<1, 2>(A, B, C, BATCH, M, N, K);
    }
}
