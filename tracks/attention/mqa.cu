// A warp per query, which goes through the keys of its sequence one by one.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8;
constexpr int EACH = 4;  // elements of a row of at most 128 that a lane has

// One query by a warp over keys first ... end - 1, with a running maximum. A lane has every 32nd element.
__device__ void attend(const half* q, const half* K, const half* V, half* output, int first, int end, size_t stride, int d) {
    int lane = threadIdx.x % 32;
    float query[EACH], sum[EACH] = {}, largest = -INFINITY, total = 0.0f;
    for (int i = 0; i < EACH; i++) query[i] = lane + 32 * i < d ? __half2float(q[lane + 32 * i]) : 0.0f;
    for (int j = first; j < end; j++) {
        float score = 0.0f;
        for (int i = 0; i < EACH; i++)
            if (lane + 32 * i < d) score += query[i] * __half2float(K[j * stride + lane + 32 * i]);
        for (int mask = 16; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffffu, score, mask);
        score /= sqrtf((float)d);
        float higher = fmaxf(largest, score), rescale = expf(largest - higher), weight = expf(score - higher);
        largest = higher;
        total = total * rescale + weight;
        for (int i = 0; i < EACH; i++)
            if (lane + 32 * i < d) sum[i] = sum[i] * rescale + weight * __half2float(V[j * stride + lane + 32 * i]);
    }
    for (int i = 0; i < EACH; i++)
        if (lane + 32 * i < d) output[lane + 32 * i] = __float2half(sum[i] / total);
}

__global__ void attend_all(const half* Q, const half* K, const half* V, half* output, int rows, int heads, int length, int d) {
    int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) return;
    size_t at = (size_t)row * d, keys = (size_t)(row / length / heads) * length * d;
    attend(Q + at, K + keys, V + keys, output + at, 0, row % length + 1, d, d);
}

extern "C" void solve(const half* Q, const half* K, const half* V, half* output, int batch, int heads, int seq_len, int head_dim) {
    int rows = batch * heads * seq_len;
    attend_all<<<(rows + WARPS - 1) / WARPS, 32 * WARPS>>>(Q, K, V, output, rows, heads, seq_len, head_dim);
}
