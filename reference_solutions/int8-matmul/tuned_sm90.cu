// One block for each multiprocessor runs all the time and takes tile after tile. Its first warpgroup has one thread
// that asks the copy engine (TMA) for tiles 128 bytes deep, swizzled, four stages ahead; two others make 128 x 256
// numbers of C, each 64 x 256, by wgmma, with the sums in registers. mbarriers say when a stage is full and when it is
// free. Blocks work in clusters of two, one tile below the other: each asks for half of the tile of B, and the engine
// brings it to both. Sums go straight from registers to C: four neighboring threads exchange what they have, so that
// each writes 16 bytes.
//
// wgmma takes bytes only along K, so B is transposed first; zero points stay out of the product: sum (A - zA)(B - zB) =
// sum A B - zB sum A - zA sum B + K zA zB. The division of the quantization is a product with the reciprocal, corrected
// to what the division gives.
//
// Two numbers, for an H200: 84 MB over 4.8 TB/s are 17 µs, 275 billion operations at 1,979 TOP/s are 139 µs. Measured
// on an H200: 255 µs, torch._int_mm with B transposed before and without the quantization 318 µs. What is left: the
// transposition takes about a tenth of the time, and the tensor cores wait while a tile is quantized.
// gpujudge: arch=sm_90a
#include <cstdint>
#include <cuda.h>
#include <cuda_runtime.h>

constexpr int STAGES = 4;
constexpr int CLUSTER = 2;
constexpr int GROUP = 4;
constexpr int ROWS = 128, COLUMNS = 256;
constexpr int DEPTH = 128;  // bytes of K in a tile
constexpr int CONSUMERS = 2;
constexpr int THREADS = 128 * (1 + CONSUMERS);
constexpr int A_BYTES = ROWS * 128, B_BYTES = COLUMNS * 128, STAGE_BYTES = A_BYTES + B_BYTES;
constexpr int SHARED_BYTES = STAGES * STAGE_BYTES + 1024;  // swizzled tiles begin at multiples of 1,024

__device__ uint32_t shared_address(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

__device__ void init_barrier(uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals));
}

__device__ void expect_bytes(uint64_t* barrier, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ void wait(uint64_t* barrier, int parity) {
    int done;
    do {
        asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\nselp.b32 %0, 1, 0, p;\n}"
                     : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
    } while (!done);
}

// Arrives at the barrier of the same place in another block of the cluster.
__device__ void arrive(uint64_t* barrier, int block) {
    asm volatile("{\n.reg .b32 at;\nmapa.shared::cluster.u32 at, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [at];\n}"
                 ::"r"(shared_address(barrier)), "r"(block) : "memory");
}

// Brings a box of a matrix to shared memory, of all blocks of the cluster if `shared`.
template <bool SHARED>
__device__ void load_box(void* to, const CUtensorMap* map, uint64_t* barrier, int x, int y, int z) {
    if constexpr (SHARED) {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
                     " [%0], [%1, {%2, %3, %4}], [%5], %6;"
                     ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)),
                     "h"(static_cast<uint16_t>((1 << CLUSTER) - 1)) : "memory");
    } else {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
                     ::"r"(shared_address(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier)) : "memory");
    }
}

__device__ void synchronize_cluster() {
    asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory");
}

// What wgmma is told of a tile whose rows of 128 bytes are swizzled: the distances, in bytes, of its parts.
__device__ uint64_t describe(uint32_t address, int across, int down) {
    return (uint64_t)1 << 62 | (uint64_t)(down >> 4) << 32 | (uint64_t)(across >> 4) << 16 | (address & 0x3ffff) >> 4;
}

#define SUMS8(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3]), "+r"(d[i + 4]), "+r"(d[i + 5]), "+r"(d[i + 6]), "+r"(d[i + 7])
#define SUMS32(i) SUMS8(i), SUMS8(i + 8), SUMS8(i + 16), SUMS8(i + 24)

// A warpgroup adds a product of 64 x 256 to its sums, or begins them anew.
__device__ void multiply(int (&d)[128], uint64_t a, uint64_t b, int add) {
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
                 "}, %128, %129, p;\n}"
                 : SUMS32(0), SUMS32(32), SUMS32(64), SUMS32(96)
                 : "l"(a), "l"(b), "r"(add));
}

// Exchanges v[i] of the j-th with v[j] of the i-th of four neighboring threads.
__device__ void turn(uint32_t (&v)[4]) {
    bool odd = threadIdx.x & 1, high = threadIdx.x & 2;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint32_t got = __shfl_xor_sync(0xffffffffu, odd ? v[i] : v[i + 1], 1);
        (odd ? v[i] : v[i + 1]) = got;
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
        uint32_t got = __shfl_xor_sync(0xffffffffu, high ? v[i] : v[i + 2], 2);
        (high ? v[i] : v[i + 2]) = got;
    }
}

struct Place {
    int batch, row, column;  // of a tile
};

// Tiles of a cluster lie below each other. Clusters go down GROUP of these before they go on to the next column.
__device__ Place place(int number, int down, int across) {
    int batch = number / (down * across);
    number -= batch * down * across;
    int group = number / (GROUP * across), in_group = number % (GROUP * across);
    int rows = min(GROUP, down - group * GROUP);
    return {batch, (group * GROUP + in_group % rows) * ROWS * CLUSTER, in_group / rows * COLUMNS};
}

template <class Finish>
__device__ void product(const CUtensorMap* A, const CUtensorMap* B, int batches, int M, int N, int K, const Finish& finish) {
    extern __shared__ unsigned char memory[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    unsigned char* tiles = memory + (1024 - shared_address(memory) % 1024) % 1024;
    int down = (M + ROWS * CLUSTER - 1) / (ROWS * CLUSTER), across = (N + COLUMNS - 1) / COLUMNS;
    int count = batches * down * across, steps = (K + DEPTH - 1) / DEPTH;
    int rank = blockIdx.x % CLUSTER, first = blockIdx.x / CLUSTER, stride = gridDim.x / CLUSTER;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            init_barrier(&full[i], 1);
            init_barrier(&empty[i], CONSUMERS * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    synchronize_cluster();

    int group = threadIdx.x / 128;
    int stage = 0, parity = 0;
    auto advance = [&] {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0) {
            for (int number = first; number < count; number += stride) {
                Place at = place(number, down, across);
                for (int step = 0; step < steps; step++) {
                    wait(&empty[stage], parity ^ 1);
                    unsigned char *a = tiles + stage * STAGE_BYTES, *b = a + A_BYTES;
                    expect_bytes(&full[stage], STAGE_BYTES);
                    load_box<false>(a, A, &full[stage], step * DEPTH, at.row + rank * ROWS, at.batch);
                    constexpr int SHARE = COLUMNS / CLUSTER;
                    load_box<(CLUSTER > 1)>(b + rank * SHARE * 128, B, &full[stage], step * DEPTH, at.column + rank * SHARE, at.batch);
                    advance();
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        int consumer = __shfl_sync(0xffffffffu, group - 1, 0), thread = threadIdx.x % 128;
        int sum[128];
        for (int number = first; number < count; number += stride) {
            Place at = place(number, down, across);
            int before = -1;
            auto release = [&] {
                if (before >= 0 && thread < CLUSTER) arrive(&empty[before], thread);
            };
            // Rows of C: this thread has a part of one and of that eight below it.
            int row = at.row + rank * ROWS + consumer * 64 + thread / 32 * 16 + thread % 32 / 4;
            typename Finish::Ahead ahead;
            for (int step = 0; step < steps; step++) {
                if (step == steps - 1) finish.begin(ahead, at.batch, row, at.column, M, N);
                wait(&full[stage], parity);
                uint32_t a = shared_address(tiles) + stage * STAGE_BYTES + consumer * 64 * 128;
                uint32_t b = shared_address(tiles) + stage * STAGE_BYTES + A_BYTES;
                asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
                for (int k = 0; k < 4; k++) {
                    multiply(sum, describe(a + 32 * k, 16, 1024), describe(b + 32 * k, 16, 1024), step + k > 0);
                }
                asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
                asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
                release();
                before = stage;
                advance();
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            // Nothing is computed from the sums before this.
#pragma unroll
            for (int i = 0; i < 128; i++) asm volatile("" : "+r"(sum[i])::"memory");
            release();
            finish.end(sum, ahead, at.batch, row, at.column, M, N);
        }
    }
    // Nobody leaves while another block may still arrive at its barriers.
    synchronize_cluster();
}

// A row-major array of `batches` matrices for the copy engine: boxes of `wide` by `high`, zeros where there is nothing.
static CUtensorMap describe_array(CUtensorMapDataType type, int size, const void* at, int batches, int rows, int columns, int wide, int high) {
    CUtensorMap map;
    cuuint64_t sizes[] = {(cuuint64_t)columns, (cuuint64_t)rows, (cuuint64_t)batches};
    cuuint64_t strides[] = {(cuuint64_t)columns * size, (cuuint64_t)columns * size * rows};
    cuuint32_t box[] = {(cuuint32_t)wide, (cuuint32_t)high, 1}, steps[] = {1, 1, 1};
    cuTensorMapEncodeTiled(&map, type, 3, const_cast<void*>(at), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                           CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

// One block for each multiprocessor, in clusters.
template <class... Parameters, class... Arguments>
static void launch(void (*kernel)(Parameters...), Arguments... arguments) {
    int device, processors;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES);
    cudaLaunchConfig_t config = {};
    config.gridDim = processors / CLUSTER * CLUSTER;
    config.blockDim = THREADS;
    config.dynamicSmemBytes = SHARED_BYTES;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = CLUSTER;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, kernel, arguments...);
}

struct Finish {
    struct Ahead {};
    int8_t* C;
    const int *row_sums, *column_sums;  // null where their factor is zero
    float scale_A, scale_B, scale_C, reciprocal_C;
    int zero_point_A, zero_point_B, zero_point_C, constant;  // K zA zB

    // A quotient as the division rounds it: the product with the reciprocal, corrected twice by what is left over.
    __device__ int quantize(int sum) const {
        float scaled = (float)sum * scale_A * scale_B;
        float quotient = scaled * reciprocal_C;
        quotient = fmaf(fmaf(-quotient, scale_C, scaled), reciprocal_C, quotient);
        quotient = fmaf(fmaf(-quotient, scale_C, scaled), reciprocal_C, quotient);
        // 1.5 * 2^23 more, the last bit counts 1: the addition rounds to the nearest whole number, to the even one of two.
        return __float_as_int(fminf(fmaxf(quotient, -1e4f), 1e4f) + 12582912.0f) - 0x4b400000 + zero_point_C;
    }

    // Two numbers cut off to bytes, in the lower half.
    static __device__ uint32_t pack(int first, int second) {
        uint32_t bytes;
        asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(bytes) : "r"(second), "r"(first), "r"(0));
        return bytes;
    }

    __device__ void begin(Ahead&, int, int, int, int, int) const {}

    // This thread writes eight pieces of 16 bytes; four threads share a row.
    __device__ void end(const int (&sum)[128], Ahead&, int, int row, int column, int M, int N) const {
        int of_row[2] = {constant, constant};
        if (row_sums != nullptr) {
#pragma unroll
            for (int h = 0; h < 2; h++) of_row[h] -= row + 8 * h < M ? zero_point_B * row_sums[row + 8 * h] : 0;
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t v[2][4];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t halves[2][2];
#pragma unroll
                for (int k = 0; k < 2; k++) {
                    int group = i * 8 + j * 2 + k, at = column + group * 8 + threadIdx.x % 4 * 2;
                    int of_column[2] = {0, 0};
                    if (column_sums != nullptr) {
                        if (at < N) of_column[0] = zero_point_A * __ldg(column_sums + at);
                        if (at + 1 < N) of_column[1] = zero_point_A * __ldg(column_sums + at + 1);
                    }
#pragma unroll
                    for (int h = 0; h < 2; h++) {
                        const int* s = sum + group * 4 + h * 2;
                        halves[h][k] = pack(quantize(s[0] + of_row[h] - of_column[0]), quantize(s[1] + of_row[h] - of_column[1]));
                    }
                }
#pragma unroll
                for (int h = 0; h < 2; h++) v[h][j] = __byte_perm(halves[h][0], halves[h][1], 0x5410);
            }
#pragma unroll
            for (int h = 0; h < 2; h++) {
                turn(v[h]);
                uint32_t piece[4] = {__byte_perm(v[h][0], v[h][1], 0x5410), __byte_perm(v[h][2], v[h][3], 0x5410),
                                     __byte_perm(v[h][0], v[h][1], 0x7632), __byte_perm(v[h][2], v[h][3], 0x7632)};
                int r = row + 8 * h, c = column + i * 64 + threadIdx.x % 4 * 16;
                if (r >= M || c >= N) continue;
                int8_t* to = C + (size_t)r * N + c;
                if (N % 16 == 0) {
                    *reinterpret_cast<uint4*>(to) = make_uint4(piece[0], piece[1], piece[2], piece[3]);
                } else {
#pragma unroll
                    for (int e = 0; e < 16; e++) {
                        if (c + e < N) to[e] = static_cast<int8_t>(piece[e / 4] >> e % 4 * 8);
                    }
                }
            }
        }
    }
};

__global__ void __launch_bounds__(THREADS, 1)
    matmul(const __grid_constant__ CUtensorMap A, const __grid_constant__ CUtensorMap T, Finish finish, int M, int N, int K) {
    product(&A, &T, 1, M, N, K, finish);
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

    CUtensorMap a = describe_array(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, copy_A ? copy : A, 1, M, width, DEPTH, ROWS);
    CUtensorMap b = describe_array(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, T, 1, N, width, DEPTH, COLUMNS / CLUSTER);
    Finish finish = {C, row_sums, column_sums, scale_A, scale_B, scale_C, 1.0f / scale_C,
                     zero_point_A, zero_point_B, zero_point_C, K * zero_point_A * zero_point_B};
    launch(matmul, a, b, finish, M, N, K);
}
