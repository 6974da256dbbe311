// Flash attention on the ordinary (FP32) units: a block of 16 x 16 threads takes 64 queries of a head and walks over tiles of 64
// keys, all of them. Each thread holds a 4 x 4 piece of the scores (rows ty + 16 i, columns tx + 16 j) and its
// piece of the output in registers; running maxima and denominators make it one pass. Longer rows than 128 numbers, which
// shared memory does not hold, go to a second kernel with a block per query.
#include <cuda_runtime.h>
#include <math.h>

constexpr int SIDE = 16;
constexpr int THREADS = SIDE * SIDE;
constexpr int ROWS = 64;
constexpr int KEYS = 64;
constexpr int SCORE_STRIDE = KEYS + 16;
constexpr float LOG2_E = 1.4426950408889634f;

template <int WIDTH>
struct Tiles {
    float queries[ROWS][WIDTH + 4];
    float keys[KEYS][WIDTH + 4];
    float values[KEYS][WIDTH];
    float scores[ROWS][SCORE_STRIDE];
};

// Rows `first` ... of a matrix with `count` rows into a tile, zeros where there are none.
template <int WIDTH, int STRIDE>
__device__ void load_rows(float (*tile)[STRIDE], const float* matrix, int first, int count, int d, int stride, bool wide) {
    if (wide) {
        for (int i = threadIdx.x; i < 64 * (WIDTH / 4); i += THREADS) {
            int row = i / (WIDTH / 4), column = i % (WIDTH / 4) * 4;
            bool there = first + row < count && column < d;
            float4 value = there ? *reinterpret_cast<const float4*>(matrix + (size_t)(first + row) * stride + column) : make_float4(0, 0, 0, 0);
            *reinterpret_cast<float4*>(&tile[row][column]) = value;
        }
    } else {
        for (int i = threadIdx.x; i < 64 * WIDTH; i += THREADS) {
            int row = i / WIDTH, column = i % WIDTH;
            tile[row][column] = first + row < count && column < d ? matrix[(size_t)(first + row) * stride + column] : 0.0f;
        }
    }
}

__device__ float dot4(float4 a, float4 b, float sum) {
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) attend(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                                  float* __restrict__ output, int group, int N, int d, bool wide) {
    constexpr int COLUMNS = WIDTH / SIDE;
    extern __shared__ __align__(16) unsigned char memory[];
    auto& tiles = *reinterpret_cast<Tiles<WIDTH>*>(memory);
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    int first_query = blockIdx.x * ROWS;
    int queries = N, keys = N, stride = d, first = 0, end = N;
    size_t head = (size_t)blockIdx.y * N * d, shared_head = (size_t)(blockIdx.y / group) * N * d;
    Q += head, output += head, K += shared_head, V += shared_head;
    float scale = LOG2_E / sqrtf((float)d);
    load_rows<WIDTH>(tiles.queries, Q, first_query, queries, d, stride, wide);

    float result[4][COLUMNS] = {};
    float maximum[4], denominator[4] = {};
#pragma unroll
    for (int i = 0; i < 4; i++) maximum[i] = -INFINITY;

    for (int tile = first / KEYS; tile * KEYS < end; tile++) {
        __syncthreads();
        load_rows<WIDTH>(tiles.keys, K, tile * KEYS, keys, d, stride, wide);
        load_rows<WIDTH>(tiles.values, V, tile * KEYS, keys, d, stride, wide);
        __syncthreads();
        float score[4][4] = {};
#pragma unroll 2
        for (int t = 0; t < WIDTH; t += 4) {
            float4 key[4];
#pragma unroll
            for (int j = 0; j < 4; j++) key[j] = *reinterpret_cast<const float4*>(&tiles.keys[tx + SIDE * j][t]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                float4 query = *reinterpret_cast<const float4*>(&tiles.queries[ty + SIDE * i][t]);
#pragma unroll
                for (int j = 0; j < 4; j++) score[i][j] = dot4(query, key[j], score[i][j]);
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int row = first_query + ty + SIDE * i;
            float largest = maximum[i];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int key = tile * KEYS + tx + SIDE * j;
                // In units of log2, as the exponential is one of 2.
                score[i][j] = key < keys ? score[i][j] * scale : -INFINITY;
                largest = fmaxf(largest, score[i][j]);
            }
#pragma unroll
            for (int mask = SIDE / 2; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
            // A row that has seen no key yet has no maximum: all its weights are 0.
            float base = largest == -INFINITY ? 0.0f : largest;
            float rescale = exp2f(maximum[i] - base);
            maximum[i] = largest;
            denominator[i] *= rescale;
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) result[i][c] *= rescale;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float weight = exp2f(score[i][j] - base);
                denominator[i] += weight;
                tiles.scores[ty + SIDE * i][tx + SIDE * j] = weight;
            }
        }
        __syncthreads();
#pragma unroll 2
        for (int n = 0; n < KEYS; n += 4) {
            float4 weight[4];
#pragma unroll
            for (int i = 0; i < 4; i++) weight[i] = *reinterpret_cast<const float4*>(&tiles.scores[ty + SIDE * i][n]);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                float4 value = make_float4(tiles.values[n][tx + SIDE * c], tiles.values[n + 1][tx + SIDE * c],
                                           tiles.values[n + 2][tx + SIDE * c], tiles.values[n + 3][tx + SIDE * c]);
#pragma unroll
                for (int i = 0; i < 4; i++) result[i][c] = dot4(weight[i], value, result[i][c]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int mask = SIDE / 2; mask > 0; mask /= 2) denominator[i] += __shfl_xor_sync(0xffffffffu, denominator[i], mask);
        int row = first_query + ty + SIDE * i;
        if (row >= queries) continue;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            if (tx + SIDE * c < d) output[(size_t)row * stride + tx + SIDE * c] = result[i][c] / denominator[i];
        }
    }
}

// A block of 128 threads per query, online over 32 keys at a time; a thread holds every 128th column of the output.
__global__ void __launch_bounds__(128) attend_wide(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                                   float* __restrict__ output, int group, int N, int d) {
    __shared__ float scores[32];
    int first_query = blockIdx.x, row = blockIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int queries = N, keys = N, stride = d, first = 0, end = N;
    size_t head = (size_t)blockIdx.y * N * d, shared_head = (size_t)(blockIdx.y / group) * N * d;
    Q += head, output += head, K += shared_head, V += shared_head;
    float scale = LOG2_E / sqrtf((float)d);
    const float* q = Q + (size_t)row * stride;
    float result[8] = {}, maximum = -INFINITY, denominator = 0.0f;
    for (int start = first; start < end; start += 32) {
        for (int j = warp; j < 32; j += 4) {
            int key = start + j;
            float sum = 0.0f;
            if (key < end) {
                for (int t = lane; t < d; t += 32) sum = fmaf(q[t], K[(size_t)key * stride + t], sum);
            }
            for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
            if (lane == 0) scores[j] = key < end ? sum * scale : -INFINITY;
        }
        __syncthreads();
        float largest = maximum;
        for (int j = 0; j < 32; j++) largest = fmaxf(largest, scores[j]);
        float rescale = exp2f(maximum - largest);
        maximum = largest;
        denominator *= rescale;
#pragma unroll
        for (int c = 0; c < 8; c++) result[c] *= rescale;
        for (int j = 0; j < min(32, end - start); j++) {
            float weight = exp2f(scores[j] - maximum);
            denominator += weight;
#pragma unroll
            for (int c = 0; c < 8; c++) {
                int t = threadIdx.x + 128 * c;
                if (t < d) result[c] = fmaf(weight, V[(size_t)(start + j) * stride + t], result[c]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int c = 0; c < 8; c++) {
        int t = threadIdx.x + 128 * c;
        if (t < d) output[(size_t)row * stride + t] = result[c] / denominator;
    }
}

template <int WIDTH>
static void launch(const float* Q, const float* K, const float* V, float* output, int group, int N, int d, int queries, int heads, bool wide) {
    auto kernel = attend<WIDTH>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)sizeof(Tiles<WIDTH>));
    kernel<<<dim3((queries + ROWS - 1) / ROWS, heads), THREADS, sizeof(Tiles<WIDTH>)>>>(Q, K, V, output, group, N, d, wide);
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int num_q_heads, int num_kv_heads, int seq_len, int head_dim) {
    bool wide = head_dim % 4 == 0;
    if (head_dim <= 64) {
        launch<64>(Q, K, V, output, num_q_heads / num_kv_heads, seq_len, head_dim, seq_len, num_q_heads, wide);
    } else if (head_dim <= 128) {
        launch<128>(Q, K, V, output, num_q_heads / num_kv_heads, seq_len, head_dim, seq_len, num_q_heads, wide);
    } else {
        attend_wide<<<dim3(seq_len, num_q_heads), 128>>>(Q, K, V, output, num_q_heads / num_kv_heads, seq_len, head_dim);
    }
}
