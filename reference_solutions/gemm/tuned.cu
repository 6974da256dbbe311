// Tensor cores by mma.sync, fed from shared memory by ldmatrix, that by cp.async three tiles ahead.
//
// A block makes a tile of C, each of its warps a quarter or an eighth of it, in steps of 64 along K. In shared memory
// the 16-byte pieces of a row are exchanged by an XOR with the row's number, so that neither cp.async nor ldmatrix
// meets a bank conflict. Fragments for the next 16 of K are loaded while those before are multiplied. At the end the
// sums go through shared memory, so that C is read and written in pieces of 16 bytes. Blocks are numbered so that those
// at work together share rows and columns in the L2 cache.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int DEPTH = 64;  // halves of K in a tile
constexpr int STAGES = 3;

template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
struct Shape {
    static constexpr int THREADS = 32 * WARPS_DOWN * WARPS_ACROSS;
    static constexpr int A_BYTES = ROWS * DEPTH * 2;
    static constexpr int B_BYTES = DEPTH * COLUMNS * 2;
    static constexpr int STAGE_BYTES = A_BYTES + B_BYTES;
    // Eight banks on from row to row: no conflict when fragments are written.
    static constexpr int SUM_STRIDE = COLUMNS + 8;
    static constexpr int TILE_BYTES = STAGES * STAGE_BYTES;
    static constexpr int SUM_BYTES = ROWS * SUM_STRIDE * 4;
    static constexpr int BYTES = TILE_BYTES > SUM_BYTES ? TILE_BYTES : SUM_BYTES;
};

__device__ void copy_async(unsigned to, const half* from, bool there) {
    int bytes = there ? 16 : 0;  // the rest is filled with zeros
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LEFT>
__device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

__device__ void load_fragments(unsigned (&f)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(from) : "memory");
}

__device__ void load_fragments_transposed(unsigned (&f)[4], unsigned from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3]) : "r"(from) : "memory");
}

__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The address of a 16-byte piece in a tile with PIECES of them in a row.
template <int PIECES>
__device__ unsigned piece_at(unsigned tile, int row, int piece) { return tile + (row * PIECES + (piece ^ (row & 7))) * 16; }

// A tile of a row-major matrix whose rows have `width` halves; what lies outside is zero.
template <int ROWS, int WIDTH, int THREADS>
__device__ void load_tile(unsigned tile, const half* matrix, int first_row, int rows, int first_column, int width) {
    constexpr int PIECES = WIDTH / 8;
#pragma unroll
    for (int j = 0; j < ROWS * PIECES / THREADS; j++) {
        int i = j * THREADS + threadIdx.x;
        int row = i / PIECES, piece = i % PIECES;
        bool there = first_row + row < rows && first_column + piece * 8 < width;
        const half* from = matrix + (there ? (size_t)(first_row + row) * width + first_column + piece * 8 : 0);
        copy_async(piece_at<PIECES>(tile, row, piece), from, there);
    }
}

template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
__global__ void __launch_bounds__(Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>::THREADS)
    gemm(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K, float alpha, float beta) {
    using S = Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    constexpr int WARP_ROWS = ROWS / WARPS_DOWN, WARP_COLUMNS = COLUMNS / WARPS_ACROSS;
    constexpr int DOWN = WARP_ROWS / 16, ACROSS = WARP_COLUMNS / 16;
    constexpr int A_PIECES = DEPTH / 8, B_PIECES = COLUMNS / 8;
    constexpr int GROUP = 8;
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned tiles = static_cast<unsigned>(__cvta_generic_to_shared(memory));

    // Blocks go down GROUP rows of tiles before they go on to the next column.
    int across = (N + COLUMNS - 1) / COLUMNS, down = (M + ROWS - 1) / ROWS;
    int group = blockIdx.x / (GROUP * across), in_group = blockIdx.x % (GROUP * across);
    int group_rows = min(GROUP, down - group * GROUP);
    int first_row = (group * GROUP + in_group % group_rows) * ROWS;
    int first_column = in_group / group_rows * COLUMNS;

    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int warp_row = warp / WARPS_ACROSS * WARP_ROWS, warp_column = warp % WARPS_ACROSS * WARP_COLUMNS;
    int steps = (K + DEPTH - 1) / DEPTH;

    auto load_stage = [&](int step) {
        unsigned tile = tiles + step % STAGES * S::STAGE_BYTES;
        load_tile<ROWS, DEPTH, S::THREADS>(tile, A, first_row, M, step * DEPTH, K);
        load_tile<DEPTH, COLUMNS, S::THREADS>(tile + S::A_BYTES, B, step * DEPTH, K, first_column, N);
    };
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) load_stage(step);
        commit();
    }

    float sum[DOWN][2 * ACROSS][4] = {};
    for (int step = 0; step < steps; step++) {
        wait<STAGES - 2>();
        __syncthreads();
        if (step + STAGES - 1 < steps) load_stage(step + STAGES - 1);
        commit();

        unsigned a_tile = tiles + step % STAGES * S::STAGE_BYTES, b_tile = a_tile + S::A_BYTES;
        unsigned a[2][DOWN][4], b[2][ACROSS][4];
        auto load_slice = [&](int slice) {
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
                int row = warp_row + i * 16 + lane % 16;
                load_fragments(a[slice % 2][i], piece_at<A_PIECES>(a_tile, row, slice * 2 + lane / 16));
            }
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                int piece = (warp_column + j * 16) / 8 + lane / 16;
                load_fragments_transposed(b[slice % 2][j], piece_at<B_PIECES>(b_tile, slice * 16 + lane % 16, piece));
            }
        };
        load_slice(0);
#pragma unroll
        for (int slice = 0; slice < DEPTH / 16; slice++) {
            if (slice + 1 < DEPTH / 16) load_slice(slice + 1);
#pragma unroll
            for (int i = 0; i < DOWN; i++) {
#pragma unroll
                for (int j = 0; j < ACROSS; j++) {
                    multiply_add(sum[i][2 * j], a[slice % 2][i], b[slice % 2][j][0], b[slice % 2][j][1]);
                    multiply_add(sum[i][2 * j + 1], a[slice % 2][i], b[slice % 2][j][2], b[slice % 2][j][3]);
                }
            }
        }
    }

    wait<0>();
    __syncthreads();
    float* sums = reinterpret_cast<float*>(memory);
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < 2 * ACROSS; j++) {
            int row = warp_row + i * 16 + lane / 4, column = warp_column + j * 8 + lane % 4 * 2;
            *reinterpret_cast<float2*>(&sums[row * S::SUM_STRIDE + column]) = make_float2(sum[i][j][0], sum[i][j][1]);
            *reinterpret_cast<float2*>(&sums[(row + 8) * S::SUM_STRIDE + column]) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
    }
    __syncthreads();
#pragma unroll 2
    for (int i = threadIdx.x; i < ROWS * (COLUMNS / 8); i += S::THREADS) {
        int row = i / (COLUMNS / 8), column = i % (COLUMNS / 8) * 8;
        if (first_row + row >= M || first_column + column >= N) continue;
        uint4* at = reinterpret_cast<uint4*>(C + (size_t)(first_row + row) * N + first_column + column);
        const float2* from = reinterpret_cast<const float2*>(&sums[row * S::SUM_STRIDE + column]);
        uint4 piece = *at;
        half2* pairs = reinterpret_cast<half2*>(&piece);
#pragma unroll
        for (int p = 0; p < 4; p++) {
            float2 old = __half22float2(pairs[p]), product = from[p];
            pairs[p] = __floats2half2_rn(alpha * product.x + beta * old.x, alpha * product.y + beta * old.y);
        }
        *at = piece;
    }
}

template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
static void launch(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    using S = Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    auto kernel = gemm<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    int blocks = ((M + ROWS - 1) / ROWS) * ((N + COLUMNS - 1) / COLUMNS);
    kernel<<<blocks, S::THREADS, S::BYTES>>>(A, B, C, M, N, K, alpha, beta);
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    // Large tiles use each value more often, but there must be enough of them for all multiprocessors.
    if ((M / 128) * (N / 256) >= 96) {
        launch<128, 256, 2, 4>(A, B, C, M, N, K, alpha, beta);
    } else {
        launch<64, 64, 2, 2>(A, B, C, M, N, K, alpha, beta);
    }
}
