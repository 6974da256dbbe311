// Tensor cores on bytes by mma.sync.m16n8k32, fed from shared memory by ldmatrix, that by cp.async three tiles ahead.
//
// The instruction wants the bytes of B that lie along K side by side, and ldmatrix can only transpose pairs of bytes;
// so B is transposed first, its rows filled up with zeros to a multiple of 16 (A is copied likewise where its rows are
// not that already). Zero points stay out of the product:
//     sum (A - zA)(B - zB) = sum A B - zB sum A - zA sum B + K zA zB,
// the sums of rows and columns being made where they are needed, on the way. As in gemm/tuned.cu 16-byte pieces are
// exchanged by an XOR with the row's number, against bank conflicts, and blocks are numbered so that those at work
// together share rows and columns in the L2 cache.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int DEPTH = 128;  // bytes of K in a tile
constexpr int STAGES = 3;

struct Quantisation {
    float scale_A, scale_B, scale_C;
    int zero_point_A, zero_point_B, zero_point_C;
};

template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
struct Shape {
    static constexpr int THREADS = 32 * WARPS_DOWN * WARPS_ACROSS;
    static constexpr int A_BYTES = ROWS * DEPTH;
    static constexpr int STAGE_BYTES = (ROWS + COLUMNS) * DEPTH;
    static constexpr int RESULT_STRIDE = COLUMNS + 16;
    static constexpr int BYTES = STAGES * STAGE_BYTES;
};

__device__ void copy_async(unsigned to, const int8_t* from, bool there) {
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

__device__ void multiply_add(int (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The address of a 16-byte piece in a tile with DEPTH bytes in a row.
__device__ unsigned piece_at(unsigned tile, int row, int piece) { return tile + row * DEPTH + ((piece ^ (row & 7)) * 16); }

template <int ROWS, int THREADS>
__device__ void load_tile(unsigned tile, const int8_t* matrix, int first_row, int rows, int first_byte, int width) {
    constexpr int PIECES = DEPTH / 16;
#pragma unroll
    for (int j = 0; j < ROWS * PIECES / THREADS; j++) {
        int i = j * THREADS + threadIdx.x;
        int row = i / PIECES, piece = i % PIECES;
        bool there = first_row + row < rows && first_byte + piece * 16 < width;
        const int8_t* from = matrix + (there ? (size_t)(first_row + row) * width + first_byte + piece * 16 : 0);
        copy_async(piece_at(tile, row, piece), from, there);
    }
}

__device__ int8_t quantise(int sum, const Quantisation& q) {
    float scaled = (float)sum * q.scale_A * q.scale_B / q.scale_C;
    int rounded = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + q.zero_point_C;
    return (int8_t)max(-128, min(127, rounded));
}

// A is M x width, T (B transposed) N x width, both with zeros from K on. Sums of rows and columns may be null where
// their factor is zero.
template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
__global__ void __launch_bounds__(Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>::THREADS)
    matmul(const int8_t* __restrict__ A, const int8_t* __restrict__ T, int8_t* __restrict__ C, const int* __restrict__ row_sums,
           const int* __restrict__ column_sums, int M, int N, int K, int width, Quantisation q) {
    using S = Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    constexpr int WARP_ROWS = ROWS / WARPS_DOWN, WARP_COLUMNS = COLUMNS / WARPS_ACROSS;
    constexpr int DOWN = WARP_ROWS / 16, ACROSS = WARP_COLUMNS / 16;
    constexpr int GROUP = 8;
    extern __shared__ __align__(128) unsigned char memory[];
    unsigned tiles = static_cast<unsigned>(__cvta_generic_to_shared(memory));

    int across = (N + COLUMNS - 1) / COLUMNS, down = (M + ROWS - 1) / ROWS;
    int group = blockIdx.x / (GROUP * across), in_group = blockIdx.x % (GROUP * across);
    int group_rows = min(GROUP, down - group * GROUP);
    int first_row = (group * GROUP + in_group % group_rows) * ROWS;
    int first_column = in_group / group_rows * COLUMNS;

    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int warp_row = warp / WARPS_ACROSS * WARP_ROWS, warp_column = warp % WARPS_ACROSS * WARP_COLUMNS;
    int steps = (width + DEPTH - 1) / DEPTH;

    auto load_stage = [&](int step) {
        unsigned tile = tiles + step % STAGES * S::STAGE_BYTES;
        load_tile<ROWS, S::THREADS>(tile, A, first_row, M, step * DEPTH, width);
        load_tile<COLUMNS, S::THREADS>(tile + S::A_BYTES, T, first_column, N, step * DEPTH, width);
    };
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) load_stage(step);
        commit();
    }

    int sum[DOWN][2 * ACROSS][4] = {};
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
                load_fragments(a[slice % 2][i], piece_at(a_tile, warp_row + i * 16 + lane % 16, slice * 2 + lane / 16));
            }
#pragma unroll
            for (int j = 0; j < ACROSS; j++) {
                int row = warp_column + j * 16 + lane % 8 + lane / 16 * 8;
                load_fragments(b[slice % 2][j], piece_at(b_tile, row, slice * 2 + lane / 8 % 2));
            }
        };
        load_slice(0);
#pragma unroll
        for (int slice = 0; slice < DEPTH / 32; slice++) {
            if (slice + 1 < DEPTH / 32) load_slice(slice + 1);
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
    // Through shared memory, so that C is written in pieces of 16 bytes.
    int8_t* results = reinterpret_cast<int8_t*>(memory);
#pragma unroll
    for (int i = 0; i < DOWN; i++) {
#pragma unroll
        for (int j = 0; j < 2 * ACROSS; j++) {
            int column = warp_column + j * 8 + lane % 4 * 2;
#pragma unroll
            for (int h = 0; h < 2; h++) {
                int row = warp_row + i * 16 + lane / 4 + h * 8;
                int of_row = row_sums != nullptr && first_row + row < M ? row_sums[first_row + row] : 0;
                char2 pair;
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    int at = first_column + column + e;
                    int of_column = column_sums != nullptr && at < N ? column_sums[at] : 0;
                    int total = sum[i][j][2 * h + e] - q.zero_point_B * of_row - q.zero_point_A * of_column +
                                K * q.zero_point_A * q.zero_point_B;
                    (e == 0 ? pair.x : pair.y) = quantise(total, q);
                }
                *reinterpret_cast<char2*>(&results[row * S::RESULT_STRIDE + column]) = pair;
            }
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < ROWS * (COLUMNS / 16); i += S::THREADS) {
        int row = i / (COLUMNS / 16), column = i % (COLUMNS / 16) * 16;
        if (first_row + row >= M) continue;
        int8_t* to = C + (size_t)(first_row + row) * N + first_column + column;
        const int8_t* from = results + row * S::RESULT_STRIDE + column;
        if (N % 16 == 0) {
            if (first_column + column < N) *reinterpret_cast<int4*>(to) = *reinterpret_cast<const int4*>(from);
        } else {
            for (int e = 0; e < 16 && first_column + column + e < N; e++) to[e] = from[e];
        }
    }
}

// Rows of A with zeros behind them, where `copy` is not null, and their sums, where `sums` is not null. One warp a row.
__global__ void prepare_rows(const int8_t* __restrict__ A, int8_t* __restrict__ copy, int* __restrict__ sums, int M, int K, int width) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= M) return;
    const int8_t* from = A + (size_t)row * K;
    int sum = 0;
    if (copy == nullptr) {
        for (int i = lane; i < K / 16; i += 32) {
            int4 piece = reinterpret_cast<const int4*>(from)[i];
            sum = __dp4a(piece.x, 0x01010101, __dp4a(piece.y, 0x01010101, sum));
            sum = __dp4a(piece.z, 0x01010101, __dp4a(piece.w, 0x01010101, sum));
        }
    } else {
        for (int k = lane; k < width; k += 32) {
            int8_t value = k < K ? from[k] : 0;
            copy[(size_t)row * width + k] = value;
            sum += value;
        }
    }
    if (sums == nullptr) return;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) sums[row] = sum;
}

constexpr int TURN_ROWS = 128, TURN_COLUMNS = 64, TURN_THREADS = 256;

// B transposed, with zeros behind its rows, and the sums of its columns (added to what is there), where `sums` is not
// null.
__global__ void __launch_bounds__(TURN_THREADS)
    transpose(const int8_t* __restrict__ B, int8_t* __restrict__ T, int* __restrict__ sums, int N, int K, int width) {
    __shared__ __align__(16) int8_t tile[TURN_ROWS][TURN_COLUMNS + 4];
    int first_k = blockIdx.y * TURN_ROWS, first_n = blockIdx.x * TURN_COLUMNS;
    for (int i = threadIdx.x; i < TURN_ROWS * (TURN_COLUMNS / 4); i += TURN_THREADS) {
        int k = i / (TURN_COLUMNS / 4), n = i % (TURN_COLUMNS / 4) * 4;
        char4 value = make_char4(0, 0, 0, 0);
        const int8_t* from = B + (size_t)(first_k + k) * N + first_n + n;
        if (first_k + k < K) {
            if (N % 4 == 0) {
                if (first_n + n < N) value = *reinterpret_cast<const char4*>(from);
            } else {
                if (first_n + n < N) value.x = from[0];
                if (first_n + n + 1 < N) value.y = from[1];
                if (first_n + n + 2 < N) value.z = from[2];
                if (first_n + n + 3 < N) value.w = from[3];
            }
        }
        *reinterpret_cast<char4*>(&tile[k][n]) = value;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < TURN_COLUMNS * (TURN_ROWS / 16); i += TURN_THREADS) {
        int n = i / (TURN_ROWS / 16), k = i % (TURN_ROWS / 16) * 16;
        unsigned words[4];
        int sum = 0;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            words[w] = 0;
#pragma unroll
            for (int e = 0; e < 4; e++) words[w] |= static_cast<unsigned>(static_cast<uint8_t>(tile[k + 4 * w + e][n])) << (8 * e);
            sum = __dp4a(static_cast<int>(words[w]), 0x01010101, sum);
        }
        if (first_n + n < N && first_k + k < width) {
            *reinterpret_cast<uint4*>(T + (size_t)(first_n + n) * width + first_k + k) = make_uint4(words[0], words[1], words[2], words[3]);
        }
        if (sums != nullptr) {
            // Eight neighbours hold the pieces of one column.
            for (int offset = 4; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
            if (threadIdx.x % 8 == 0 && first_n + n < N) atomicAdd(&sums[first_n + n], sum);
        }
    }
}

// Room for what is prepared, kept from call to call.
static int8_t* scratch(size_t bytes) {
    static int8_t* buffer = nullptr;
    static size_t size = 0;
    if (bytes > size) {
        cudaFree(buffer);
        cudaMalloc(&buffer, bytes);
        size = bytes;
    }
    return buffer;
}

template <int ROWS, int COLUMNS, int WARPS_DOWN, int WARPS_ACROSS>
static void launch(const int8_t* A, const int8_t* T, int8_t* C, const int* row_sums, const int* column_sums, int M, int N, int K,
                   int width, const Quantisation& q) {
    using S = Shape<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    auto kernel = matmul<ROWS, COLUMNS, WARPS_DOWN, WARPS_ACROSS>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::BYTES);
    int blocks = ((M + ROWS - 1) / ROWS) * ((N + COLUMNS - 1) / COLUMNS);
    kernel<<<blocks, S::THREADS, S::BYTES>>>(A, T, C, row_sums, column_sums, M, N, K, width, q);
}

static size_t round_up(size_t value, size_t to) { return (value + to - 1) / to * to; }

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    int width = static_cast<int>(round_up(K, 16));
    bool copy_A = width != K, sum_rows = zero_point_B != 0, sum_columns = zero_point_A != 0;

    size_t sums_bytes = round_up(sizeof(int) * (M + N), 256), turned_bytes = round_up((size_t)N * width, 256);
    int8_t* room = scratch(sums_bytes + turned_bytes + (copy_A ? (size_t)M * width : 0));
    int* row_sums = sum_rows ? reinterpret_cast<int*>(room) : nullptr;
    int* column_sums = sum_columns ? reinterpret_cast<int*>(room) + M : nullptr;
    int8_t* T = room + sums_bytes;
    int8_t* copy = copy_A ? T + turned_bytes : nullptr;

    if (sum_columns) cudaMemsetAsync(column_sums, 0, sizeof(int) * N);
    dim3 turns((N + TURN_COLUMNS - 1) / TURN_COLUMNS, (K + TURN_ROWS - 1) / TURN_ROWS);
    transpose<<<turns, TURN_THREADS>>>(B, T, column_sums, N, K, width);
    if (copy_A || sum_rows) prepare_rows<<<(M + 7) / 8, 256>>>(A, copy, row_sums, M, K, width);

    Quantisation q = {scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C};
    const int8_t* rows = copy_A ? copy : A;
    // Large tiles use each value more often, but there must be enough of them for all multiprocessors.
    if ((M / 128) * (N / 256) >= 96) {
        launch<128, 256, 2, 4>(rows, T, C, row_sums, column_sums, M, N, K, width, q);
    } else {
        launch<64, 64, 2, 2>(rows, T, C, row_sums, column_sums, M, N, K, width, q);
    }
}
