// challenge: mqa
// verdict: WA
// mode: SUBMIT
// told: no __threadfence() stands between the write and the atomic behind it
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int SPLITS = 4;
constexpr int STRIDE = 130;  // of a part: the sum of 128 elements, the largest score, the sum of weights

// Each block attends to every fourth key of a row, by its one warp; the last one of a row adds up.
__global__ void attend(const half* Q, const half* K, const half* V, half* output, float* parts, unsigned* done, int heads, int length, int d) {
    int row = blockIdx.x, lane = threadIdx.x;
    const half* q = Q + (size_t)row * d;
    size_t keys = (size_t)(row / length / heads) * length * d;
    float sum[4] = {}, largest = -INFINITY, total = 0.0f;
    for (int j = blockIdx.y; j <= row % length; j += SPLITS) {
        float score = 0.0f;
        for (int i = lane; i < d; i += 32) score += __half2float(q[i]) * __half2float(K[keys + (size_t)j * d + i]);
        for (int mask = 16; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffffu, score, mask);
        score /= sqrtf((float)d);
        float higher = fmaxf(largest, score), rescale = expf(largest - higher), weight = expf(score - higher);
        largest = higher;
        total = total * rescale + weight;
        for (int i = 0; i < 4; i++)
            if (lane + 32 * i < d) sum[i] = sum[i] * rescale + weight * __half2float(V[keys + (size_t)j * d + lane + 32 * i]);
    }
    float* of_row = parts + (size_t)row * SPLITS * STRIDE;
    for (int i = 0; i < 4; i++) of_row[blockIdx.y * STRIDE + lane + 32 * i] = sum[i];
    if (lane == 0) of_row[blockIdx.y * STRIDE + 128] = largest;
    if (lane == 0) of_row[blockIdx.y * STRIDE + 129] = total;
    // __threadfence() is missing: the count may be seen before the part, though its block has long ended.
    __syncwarp();
    unsigned before = lane == 0 ? atomicAdd(done + row, 1) : 0;
    if (__shfl_sync(0xffffffffu, before, 0) + 1 < SPLITS) return;
    float highest = -INFINITY, weights = 0.0f, all[4] = {};
    for (int part = 0; part < SPLITS; part++) highest = fmaxf(highest, of_row[part * STRIDE + 128]);
    for (int part = 0; part < SPLITS; part++) {
        float rescale = expf(of_row[part * STRIDE + 128] - highest);
        weights += rescale * of_row[part * STRIDE + 129];
        for (int i = 0; i < 4; i++) all[i] += rescale * of_row[part * STRIDE + lane + 32 * i];
    }
    for (int i = 0; i < 4; i++)
        if (lane + 32 * i < d) output[(size_t)row * d + lane + 32 * i] = __float2half(all[i] / weights);
}

extern "C" void solve(const half* Q, const half* K, const half* V, half* output, int batch, int heads, int seq_len, int head_dim) {
    int rows = batch * heads * seq_len;
    float* parts;
    unsigned* done;
    cudaMalloc(&parts, (size_t)rows * SPLITS * STRIDE * sizeof(float));
    cudaMalloc(&done, rows * sizeof(unsigned));
    cudaMemset(done, 0, rows * sizeof(unsigned));
    attend<<<dim3(rows, SPLITS), 32>>>(Q, K, V, output, parts, done, heads, seq_len, head_dim);
    cudaFree(parts);
    cudaFree(done);
}
