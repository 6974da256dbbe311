// The sequence of each head is cut into pieces, a block each. Groups of WIDTH/8 lanes take a position: a lane reads four bytes of the key, makes its
// part of the product from whole numbers, the scale and its sum of the query, and shuffles complete it. The same lanes add the weighted
// four bytes of the value to their running outputs, its minimum to one sum for all eight. Groups meet in shared memory, pieces in a second kernel.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;
constexpr int PIECE = 1024;
constexpr float LOG2_E = 1.4426950408889634f;

// Number i of eight, exactly: in the lowest bits of a float it adds to 2^23.
__device__ __forceinline__ float number(unsigned packed, int i) {
    return __uint_as_float(0x4b000000u | (packed >> (4 * i) & 15u)) - 8388608.0f;
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) decode(const float* __restrict__ Q, const unsigned* __restrict__ K, const unsigned* __restrict__ V,
                                                  const half* __restrict__ k_scale, const half* __restrict__ k_min,
                                                  const half* __restrict__ v_scale, const half* __restrict__ v_min, float* __restrict__ partial,
                                                  float2* __restrict__ statistics, int length, int d, int group) {
    constexpr int LANES = WIDTH / 8, GROUPS = THREADS / LANES;
    __shared__ float outputs[GROUPS][WIDTH + 1];
    __shared__ float2 of_group[GROUPS];
    int row = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    size_t head = blockIdx.y;
    int first = blockIdx.x * PIECE, end = min(length, first + PIECE), words = d / 8, scales = d / group;
    bool there = lane < words;
    float q[8], of_query = 0.0f, sum[8] = {}, least = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        q[i] = there ? Q[head * d + lane * 8 + i] * LOG2_E / sqrtf((float)d) : 0.0f;
        of_query += q[i];
    }
    float maximum = -INFINITY, denominator = 0.0f;
#pragma unroll 2
    for (int start = first; start < end; start += GROUPS) {
        int s = start + row;
        bool inside = s < end;
        size_t at = head * length + (inside ? s : first);
        unsigned key = 0, value = 0;
        float scale = 0.0f, low = 0.0f, times = 0.0f, plus = 0.0f;
        if (there) {
            size_t g = at * scales + lane * 8 / group;
            key = __ldcs(K + at * words + lane);
            value = __ldcs(V + at * words + lane);
            scale = __half2float(k_scale[g]), low = __half2float(k_min[g]);
            times = __half2float(v_scale[g]), plus = __half2float(v_min[g]);
        }
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++) score = fmaf(q[i], number(key, i), score);
        score = fmaf(score, scale, of_query * low);
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffffu, score, mask);
        if (!inside) continue;
        float largest = fmaxf(maximum, score);
        float rescale = exp2f(maximum - largest), weight = exp2f(score - largest);
        maximum = largest;
        denominator = fmaf(denominator, rescale, weight);
        least = fmaf(least, rescale, weight * plus);
        weight *= times;
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] = fmaf(sum[i], rescale, weight * number(value, i));
    }
#pragma unroll
    for (int i = 0; i < 8; i++) outputs[row][lane * 8 + i] = sum[i] + least;
    if (lane == 0) of_group[row] = make_float2(maximum, denominator);
    __syncthreads();
    float top = -INFINITY;
    for (int g = 0; g < GROUPS; g++) top = fmaxf(top, of_group[g].x);
    size_t piece = head * gridDim.x + blockIdx.x;
    for (int t = threadIdx.x; t < d; t += THREADS) {
        float result = 0.0f;
        for (int g = 0; g < GROUPS; g++) result = fmaf(exp2f(of_group[g].x - top), outputs[g][t], result);
        partial[piece * d + t] = result;
    }
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int g = 0; g < GROUPS; g++) total = fmaf(exp2f(of_group[g].x - top), of_group[g].y, total);
        statistics[piece] = make_float2(top, total);
    }
}

__global__ void combine(const float* __restrict__ partial, const float2* __restrict__ statistics, float* __restrict__ output, int pieces, int d) {
    size_t head = blockIdx.x;
    float top = -INFINITY;
    for (int p = 0; p < pieces; p++) top = fmaxf(top, statistics[head * pieces + p].x);
    for (int t = threadIdx.x; t < d; t += blockDim.x) {
        float sum = 0.0f, total = 0.0f;
        for (int p = 0; p < pieces; p++) {
            float2 of_piece = statistics[head * pieces + p];
            float weight = exp2f(of_piece.x - top);
            total = fmaf(weight, of_piece.y, total);
            sum = fmaf(weight, partial[(head * pieces + p) * d + t], sum);
        }
        output[head * d + t] = sum / total;
    }
}

extern "C" void solve(const float* Q, const uint8_t* K4, const uint8_t* V4, const half* k_scale, const half* k_min, const half* v_scale,
                      const half* v_min, float* output, int num_heads, int seq_len, int head_dim, int group) {
    static float2* scratch = nullptr;
    static size_t size = 0;
    int pieces = (seq_len + PIECE - 1) / PIECE;
    size_t count = (size_t)num_heads * pieces, needed = count * (sizeof(float2) + sizeof(float) * head_dim);
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    float* partial = reinterpret_cast<float*>(scratch + count);
    const unsigned *K = reinterpret_cast<const unsigned*>(K4), *V = reinterpret_cast<const unsigned*>(V4);
    auto kernel = head_dim <= 64 ? decode<64> : head_dim <= 128 ? decode<128> : decode<256>;
    kernel<<<dim3(pieces, num_heads), THREADS>>>(Q, K, V, k_scale, k_min, v_scale, v_min, partial, scratch, seq_len, head_dim, group);
    combine<<<num_heads, 128>>>(partial, scratch, output, pieces, head_dim);
}
