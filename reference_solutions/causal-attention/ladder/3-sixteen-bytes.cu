// Four numbers at a time: keys, values and queries come from memory and from shared memory in words of 16 bytes, and a lane
// makes four neighbouring columns of the result. Two reads serve four multiply-adds, where it was eight.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8;
constexpr int KEYS = 32;
constexpr int WIDTH = 128;

// Four neighbouring numbers of a row, zeros where there are none.
__device__ float4 fetch(const float* matrix, int row, int rows, int column, int d) {
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= rows || column >= d) return four;
    const float* from = matrix + (size_t)row * d + column;
    if (d % 4 == 0) return *reinterpret_cast<const float4*>(from);
    four.x = from[0];
    if (column + 1 < d) four.y = from[1];
    if (column + 2 < d) four.z = from[2];
    if (column + 3 < d) four.w = from[3];
    return four;
}

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    // One more word of 16 bytes for each key: eight lanes that read side by side then use all banks once.
    __shared__ float4 queries[WARPS][WIDTH / 4], keys[KEYS][WIDTH / 4 + 1], values[KEYS][WIDTH / 4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int i = blockIdx.x * WARPS + warp, end = min(M, (int)(blockIdx.x + 1) * WARPS);
    queries[warp][lane] = fetch(Q, i, M, 4 * lane, d);
    float scale = 1.0f / sqrtf((float)d), largest = -INFINITY, total = 0.0f;
    float4 result = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    for (int first = 0; first < end; first += KEYS) {
        __syncthreads();
#pragma unroll
        for (int row = warp; row < KEYS; row += WARPS) {
            keys[row][lane] = fetch(K, first + row, M, 4 * lane, d);
            values[row][lane] = fetch(V, first + row, M, 4 * lane, d);
        }
        __syncthreads();
        float score = 0.0f;
#pragma unroll 4
        for (int t = 0; t < (d + 3) / 4; t++) {
            float4 query = queries[warp][t], key = keys[lane][t];
            score += query.x * key.x;
            score += query.y * key.y;
            score += query.z * key.z;
            score += query.w * key.w;
        }
        score = first + lane <= i ? score * scale : -INFINITY;
        // Every query sees the first key, so the maximum is finite after the first tile.
        float highest = fmaxf(largest, score);
        for (int mask = 16; mask > 0; mask /= 2) highest = fmaxf(highest, __shfl_xor_sync(0xffffffffu, highest, mask));
        float weight = expf(score - highest), rescale = expf(largest - highest);
        largest = highest;
        total = total * rescale + weight;
        result.x *= rescale;
        result.y *= rescale;
        result.z *= rescale;
        result.w *= rescale;
#pragma unroll 8
        for (int k = 0; k < KEYS; k++) {
            float its_weight = __shfl_sync(0xffffffffu, weight, k);
            float4 value = values[k][lane];
            result.x += its_weight * value.x;
            result.y += its_weight * value.y;
            result.z += its_weight * value.z;
            result.w += its_weight * value.w;
        }
    }
    // Each lane has added up the weights of its own keys.
    for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(0xffffffffu, total, mask);
    if (i >= M || 4 * lane >= d) return;
    float* to = output + (size_t)i * d + 4 * lane;
    to[0] = result.x / total;
    if (4 * lane + 1 < d) to[1] = result.y / total;
    if (4 * lane + 2 < d) to[2] = result.z / total;
    if (4 * lane + 3 < d) to[3] = result.w / total;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    attend<<<(M + WARPS - 1) / WARPS, 32 * WARPS>>>(Q, K, V, output, M, d);
}
