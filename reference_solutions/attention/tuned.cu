// Flash attention on the ordinary (FP32) units, since single precision is asked for.
//
// A block of 16 x 16 threads takes ROWS queries and walks over a share of the keys in tiles of 64. Each thread holds a
// piece of the scores (rows ty + 16 i, columns tx + 16 j) and of the output in registers; a row's maximum is found by
// shuffles over its 16 threads, its denominator is kept in parts and added up at the end. Tiles come by cp.async: the
// next keys while the scores are used, the next values while scores are made. Few queries would leave multiprocessors
// idle, so the keys are shared out over `splits` blocks, whose results a second kernel puts together.
#include <cmath>
#include <cuda_runtime.h>

constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int KEYS = 64;
constexpr int KEYS_PER_THREAD = KEYS / SIDE;
// A row further lies 16 banks on, so that the two rows that a warp writes at once share none.
constexpr int SCORE_STRIDE = KEYS + 16;

template <int ROWS, int WIDTH>
struct Tiles {
    // Four banks on from row to row: 16-byte reads of eight rows meet no conflict.
    static constexpr int STRIDE = WIDTH + 4;
    float queries[ROWS][STRIDE];
    float keys[KEYS][STRIDE];
    float values[KEYS][WIDTH];
    float scores[ROWS][SCORE_STRIDE];
};

template <int BYTES>
__device__ void copy_async(float* to, const float* from, bool there) {
    unsigned target = static_cast<unsigned>(__cvta_generic_to_shared(to));
    int bytes = there ? BYTES : 0;  // the rest is filled with zeros
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(target), "l"(from), "r"(bytes) : "memory");
    }
}

__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int LEFT>
__device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory"); }

__device__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Rows `first` ... of a matrix with `rows` rows of `d` numbers into a tile, zeros where there are none.
template <int COUNT, int WIDTH, int STRIDE>
__device__ void load_rows(float (*tile)[STRIDE], const float* matrix, int first, int rows, int d) {
    if (d % 4 == 0) {
        for (int i = threadIdx.x; i < COUNT * (WIDTH / 4); i += THREADS) {
            int row = i / (WIDTH / 4), column = i % (WIDTH / 4) * 4;
            bool there = first + row < rows && column < d;
            copy_async<16>(&tile[row][column], there ? matrix + (size_t)(first + row) * d + column : matrix, there);
        }
    } else {
#pragma unroll 1
        for (int i = threadIdx.x; i < COUNT * WIDTH; i += THREADS) {
            int row = i / WIDTH, column = i % WIDTH;
            bool there = first + row < rows && column < d;
            copy_async<4>(&tile[row][column], there ? matrix + (size_t)(first + row) * d + column : matrix, there);
        }
    }
}

__device__ float dot4(float4 a, float4 b, float sum) {
    sum = fmaf(a.x, b.x, sum);
    sum = fmaf(a.y, b.y, sum);
    sum = fmaf(a.z, b.z, sum);
    return fmaf(a.w, b.w, sum);
}

__device__ void add_scaled(float4& sum, float factor, float4 value) {
    sum.x = fmaf(factor, value.x, sum.x);
    sum.y = fmaf(factor, value.y, sum.y);
    sum.z = fmaf(factor, value.z, sum.z);
    sum.w = fmaf(factor, value.w, sum.w);
}

// `partial` null: write the output. Otherwise leave sums that are not yet divided, with maxima and denominators, for
// combine().
template <int ROWS, int WIDTH, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
    attend(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ output,
           float* __restrict__ partial, float2* __restrict__ statistics, int M, int N, int d, int tiles_per_split, float scale) {
    constexpr int ROWS_PER_THREAD = ROWS / SIDE;
    constexpr int QUADS = WIDTH / (4 * SIDE);
    extern __shared__ __align__(16) unsigned char memory[];
    auto& tiles = *reinterpret_cast<Tiles<ROWS, WIDTH>*>(memory);

    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    int first_query = blockIdx.x * ROWS;
    int first_tile = blockIdx.y * tiles_per_split;
    int end_tile = min(first_tile + tiles_per_split, (N + KEYS - 1) / KEYS);

    load_rows<ROWS, WIDTH>(tiles.queries, Q, first_query, M, d);
    load_rows<KEYS, WIDTH>(tiles.keys, K, first_tile * KEYS, N, d);
    commit();
    load_rows<KEYS, WIDTH>(tiles.values, V, first_tile * KEYS, N, d);
    commit();

    float4 result[ROWS_PER_THREAD][QUADS] = {};
    float maximum[ROWS_PER_THREAD], denominator[ROWS_PER_THREAD];
#pragma unroll
    for (int i = 0; i < ROWS_PER_THREAD; i++) {
        maximum[i] = -INFINITY;
        denominator[i] = 0.0f;
    }

    for (int tile = first_tile; tile < end_tile; tile++) {
        wait<1>();
        __syncthreads();
        float score[ROWS_PER_THREAD][KEYS_PER_THREAD] = {};
#pragma unroll 1
        for (int t = 0; t < WIDTH; t += 4) {
            float4 key[KEYS_PER_THREAD];
#pragma unroll
            for (int j = 0; j < KEYS_PER_THREAD; j++) key[j] = *reinterpret_cast<const float4*>(&tiles.keys[tx + SIDE * j][t]);
#pragma unroll
            for (int i = 0; i < ROWS_PER_THREAD; i++) {
                float4 query = *reinterpret_cast<const float4*>(&tiles.queries[ty + SIDE * i][t]);
#pragma unroll
                for (int j = 0; j < KEYS_PER_THREAD; j++) score[i][j] = dot4(query, key[j], score[i][j]);
            }
        }

#pragma unroll
        for (int i = 0; i < ROWS_PER_THREAD; i++) {
            float largest = maximum[i];
#pragma unroll
            for (int j = 0; j < KEYS_PER_THREAD; j++) {
                // In units of log2, as the exponential is one of 2.
                score[i][j] = tile * KEYS + tx + SIDE * j < N ? score[i][j] * scale : -INFINITY;
                largest = fmaxf(largest, score[i][j]);
            }
#pragma unroll
            for (int mask = SIDE / 2; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
            float rescale = exp2_fast(maximum[i] - largest);
            maximum[i] = largest;
            denominator[i] *= rescale;
#pragma unroll
            for (int q = 0; q < QUADS; q++) {
                result[i][q].x *= rescale;
                result[i][q].y *= rescale;
                result[i][q].z *= rescale;
                result[i][q].w *= rescale;
            }
#pragma unroll
            for (int j = 0; j < KEYS_PER_THREAD; j++) {
                float weight = exp2_fast(score[i][j] - largest);
                denominator[i] += weight;
                tiles.scores[ty + SIDE * i][tx + SIDE * j] = weight;
            }
        }
        wait<0>();
        __syncthreads();
        // Everybody is done with the keys and sees the scores and values.
        if (tile + 1 < end_tile) load_rows<KEYS, WIDTH>(tiles.keys, K, (tile + 1) * KEYS, N, d);
        commit();

#pragma unroll 1
        for (int n = 0; n < KEYS; n += 4) {
            float4 value[4][QUADS];
#pragma unroll
            for (int k = 0; k < 4; k++) {
#pragma unroll
                for (int q = 0; q < QUADS; q++) {
                    value[k][q] = *reinterpret_cast<const float4*>(&tiles.values[n + k][(tx + SIDE * q) * 4]);
                }
            }
#pragma unroll
            for (int i = 0; i < ROWS_PER_THREAD; i++) {
                float4 weight = *reinterpret_cast<const float4*>(&tiles.scores[ty + SIDE * i][n]);
#pragma unroll
                for (int q = 0; q < QUADS; q++) {
                    add_scaled(result[i][q], weight.x, value[0][q]);
                    add_scaled(result[i][q], weight.y, value[1][q]);
                    add_scaled(result[i][q], weight.z, value[2][q]);
                    add_scaled(result[i][q], weight.w, value[3][q]);
                }
            }
        }
        __syncthreads();
        if (tile + 1 < end_tile) load_rows<KEYS, WIDTH>(tiles.values, V, (tile + 1) * KEYS, N, d);
        commit();
    }

#pragma unroll
    for (int i = 0; i < ROWS_PER_THREAD; i++) {
#pragma unroll
        for (int mask = SIDE / 2; mask > 0; mask /= 2) denominator[i] += __shfl_xor_sync(0xffffffffu, denominator[i], mask);
        int row = first_query + ty + SIDE * i;
        if (row >= M) continue;
        float factor = partial == nullptr ? 1.0f / denominator[i] : 1.0f;
        size_t split_row = (size_t)blockIdx.y * M + row;
        float* to = partial == nullptr ? output + (size_t)row * d : partial + split_row * d;
        if (partial != nullptr && tx == 0) statistics[split_row] = make_float2(maximum[i], denominator[i]);
#pragma unroll
        for (int q = 0; q < QUADS; q++) {
            int column = (tx + SIDE * q) * 4;
            float4 value = result[i][q];
            value.x *= factor;
            value.y *= factor;
            value.z *= factor;
            value.w *= factor;
            if (d % 4 == 0) {
                if (column < d) *reinterpret_cast<float4*>(to + column) = value;
            } else {
                if (column < d) to[column] = value.x;
                if (column + 1 < d) to[column + 1] = value.y;
                if (column + 2 < d) to[column + 2] = value.z;
                if (column + 3 < d) to[column + 3] = value.w;
            }
        }
    }
}

__global__ void combine(const float* partial, const float2* statistics, float* output, int M, int d, int splits) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (size_t)M * d) return;
    size_t row = i / d;
    float maximum = -INFINITY;
    for (int s = 0; s < splits; s++) maximum = fmaxf(maximum, statistics[(size_t)s * M + row].x);
    float sum = 0.0f, denominator = 0.0f;
    for (int s = 0; s < splits; s++) {
        float2 part = statistics[(size_t)s * M + row];
        float weight = exp2_fast(part.x - maximum);
        denominator = fmaf(weight, part.y, denominator);
        sum = fmaf(weight, partial[(size_t)s * M * d + i], sum);
    }
    output[i] = sum / denominator;
}

// Room for what the splits leave, kept from call to call.
static float* scratch(size_t count) {
    static float* buffer = nullptr;
    static size_t size = 0;
    if (count > size) {
        cudaFree(buffer);
        cudaMalloc(&buffer, count * sizeof(float));
        size = count;
    }
    return buffer;
}

template <int ROWS, int WIDTH, int BLOCKS>
static void launch(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    int row_blocks = (M + ROWS - 1) / ROWS;
    int tiles = (N + KEYS - 1) / KEYS;
    int splits = max(1, min(tiles, multiprocessors * BLOCKS / row_blocks));
    int tiles_per_split = (tiles + splits - 1) / splits;
    splits = (tiles + tiles_per_split - 1) / tiles_per_split;

    float* partial = nullptr;
    float2* statistics = nullptr;
    if (splits > 1) {
        size_t rows = (size_t)splits * M;
        statistics = reinterpret_cast<float2*>(scratch(rows * (d + 2)));
        partial = reinterpret_cast<float*>(statistics + rows);
        // 16-byte stores need an even number of pairs before them.
        if (rows % 2 != 0) {
            statistics = reinterpret_cast<float2*>(scratch(rows * (d + 2) + 2));
            partial = reinterpret_cast<float*>(statistics + rows + 1);
        }
    }
    auto kernel = attend<ROWS, WIDTH, BLOCKS>;
    int bytes = sizeof(Tiles<ROWS, WIDTH>);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    float scale = static_cast<float>(1.4426950408889634 / sqrt(static_cast<double>(d)));
    kernel<<<dim3(row_blocks, splits), THREADS, bytes>>>(Q, K, V, output, partial, statistics, M, N, d, tiles_per_split, scale);
    if (splits > 1) combine<<<((size_t)M * d + 255) / 256, 256>>>(partial, statistics, output, M, d, splits);
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    if (d <= 64) {
        launch<128, 64, 2>(Q, K, V, output, M, N, d);
    } else {
        launch<64, 128, 1>(Q, K, V, output, M, N, d);
    }
}
