// A warp has four queries: a number of a key or a value that it reads from shared memory serves all of them.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 4;
constexpr int QUERIES = 4;  // of a warp
constexpr int ROWS = WARPS * QUERIES;
constexpr int KEYS = 32;
constexpr int WIDTH = 128;
constexpr int COLUMNS = WIDTH / 32;

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    // The 129th word of a key's row puts the rows that the lanes read into different banks.
    __shared__ float queries[ROWS][WIDTH], keys[KEYS][WIDTH + 1], values[KEYS][WIDTH];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first_query = blockIdx.x * ROWS, own = first_query + warp * QUERIES, end = min(M, first_query + ROWS);
    for (int e = threadIdx.x; e < ROWS * WIDTH; e += 32 * WARPS) {
        int row = e / WIDTH, column = e % WIDTH;
        queries[row][column] = first_query + row < M && column < d ? Q[(size_t)(first_query + row) * d + column] : 0.0f;
    }
    float scale = 1.0f / sqrtf((float)d), largest[QUERIES], total[QUERIES] = {}, result[QUERIES][COLUMNS] = {};
#pragma unroll
    for (int q = 0; q < QUERIES; q++) largest[q] = -INFINITY;

    for (int first = 0; first < end; first += KEYS) {
        __syncthreads();
        for (int e = threadIdx.x; e < KEYS * WIDTH; e += 32 * WARPS) {
            int row = e / WIDTH, column = e % WIDTH;
            bool there = first + row < M && column < d;
            keys[row][column] = there ? K[(size_t)(first + row) * d + column] : 0.0f;
            values[row][column] = there ? V[(size_t)(first + row) * d + column] : 0.0f;
        }
        __syncthreads();
        float score[QUERIES] = {};
#pragma unroll 4
        for (int t = 0; t < d; t++) {
            float key = keys[lane][t];
#pragma unroll
            for (int q = 0; q < QUERIES; q++) score[q] += queries[warp * QUERIES + q][t] * key;
        }
#pragma unroll
        for (int q = 0; q < QUERIES; q++) {
            // Every query sees the first key, so the maximum is finite after the first tile.
            score[q] = first + lane <= own + q ? score[q] * scale : -INFINITY;
            float highest = fmaxf(largest[q], score[q]);
            for (int mask = 16; mask > 0; mask /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, mask));
            float rescale = expf(largest[q] - highest);
            score[q] = expf(score[q] - highest);
            largest[q] = highest;
            total[q] = total[q] * rescale + score[q];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) result[q][c] *= rescale;
        }
#pragma unroll 4
        for (int k = 0; k < KEYS; k++) {
            float value[COLUMNS];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) value[c] = values[k][lane + 32 * c];
#pragma unroll
            for (int q = 0; q < QUERIES; q++) {
                float weight = __shfl_sync(0xffffffffu, score[q], k);
#pragma unroll
                for (int c = 0; c < COLUMNS; c++) result[q][c] += weight * value[c];
            }
        }
    }
#pragma unroll
    for (int q = 0; q < QUERIES; q++) {
        // Each lane has added up the weights of its own keys.
        for (int mask = 16; mask > 0; mask /= 2) total[q] += __shfl_xor_sync(0xffffffffu, total[q], mask);
        if (own + q >= M) continue;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
            if (lane + 32 * c < d) output[(size_t)(own + q) * d + lane + 32 * c] = result[q][c] / total[q];
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    attend<<<(M + ROWS - 1) / ROWS, 32 * WARPS>>>(Q, K, V, output, M, d);
}
