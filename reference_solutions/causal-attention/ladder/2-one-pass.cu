// Flash attention: eight queries, one for each warp, go through the keys together, 32 at a time, which lie in shared memory
// with their values. A lane has the score of one key. When the maximum rises, what was added up so far is scaled; so no
// scores are kept.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8;
constexpr int KEYS = 32;
constexpr int WIDTH = 128;
constexpr int COLUMNS = WIDTH / 32;

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    // The 129th word of a key's row puts the rows that the lanes read into different banks.
    __shared__ float queries[WARPS][WIDTH], keys[KEYS][WIDTH + 1], values[KEYS][WIDTH];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * WARPS + warp, end = min(M, (int)(blockIdx.x + 1) * WARPS);
    for (int t = lane; t < d; t += 32) queries[warp][t] = i < M ? Q[(size_t)i * d + t] : 0.0f;
    float scale = 1.0f / sqrtf((float)d), largest = -INFINITY, total = 0.0f, result[COLUMNS] = {};

    for (int first = 0; first < end; first += KEYS) {
        __syncthreads();
        for (int e = threadIdx.x; e < KEYS * WIDTH; e += 32 * WARPS) {
            int row = e / WIDTH, column = e % WIDTH;
            bool there = first + row < M && column < d;
            keys[row][column] = there ? K[(size_t)(first + row) * d + column] : 0.0f;
            values[row][column] = there ? V[(size_t)(first + row) * d + column] : 0.0f;
        }
        __syncthreads();
        float score = 0.0f;
        for (int t = 0; t < d; t++) score += queries[warp][t] * keys[lane][t];
        score = first + lane <= i ? score * scale : -INFINITY;
        // Every query sees the first key, so the maximum is finite after the first tile.
        float highest = fmaxf(largest, score);
        for (int mask = 16; mask > 0; mask /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, mask));
        float weight = expf(score - highest), rescale = expf(largest - highest);
        largest = highest;
        total = total * rescale + weight;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) result[c] *= rescale;
#pragma unroll 8
        for (int k = 0; k < KEYS; k++) {
            float its_weight = __shfl_sync(0xffffffffu, weight, k);
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) result[c] += its_weight * values[k][lane + 32 * c];
        }
    }
    // Each lane has added up the weights of its own keys.
    for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(0xffffffffu, total, mask);
    if (i >= M) return;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
        if (lane + 32 * c < d) output[(size_t)i * d + lane + 32 * c] = result[c] / total;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    attend<<<(M + WARPS - 1) / WARPS, 32 * WARPS>>>(Q, K, V, output, M, d);
}
