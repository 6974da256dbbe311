// The sequence of each head is cut into pieces, a block each. Groups of WIDTH/8 lanes take a position: each lane reads 8
// bytes of the key, shuffles complete the product, and the same lanes add the weighted 8 bytes of the value to their
// running outputs, with a running maximum per group. Groups meet in shared memory, pieces in a second kernel.
#include <cstdint>
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256;
constexpr int PIECE = 512;
constexpr float LOG2_E = 1.4426950408889634f;

__device__ float byte_of(uint2 bytes, int i) {
    unsigned word = i < 4 ? bytes.x : bytes.y;
    return (float)(int8_t)(word >> (8 * (i % 4)));
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) decode(const float* __restrict__ Q, const int8_t* __restrict__ K, const int8_t* __restrict__ V,
                                                  const float* __restrict__ k_scale, const float* __restrict__ v_scale,
                                                  float* __restrict__ partial, float2* __restrict__ statistics, int length, int d) {
    constexpr int LANES = WIDTH / 8, GROUPS = THREADS / LANES;
    __shared__ float outputs[GROUPS][WIDTH + 1];
    __shared__ float2 of_group[GROUPS];
    int group = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    size_t head = blockIdx.y;
    int first = blockIdx.x * PIECE, end = min(length, first + PIECE);
    bool there = lane * 8 < d;
    float q[8], sum[8] = {};
#pragma unroll
    for (int i = 0; i < 8; i++) q[i] = there ? Q[head * d + lane * 8 + i] * LOG2_E / sqrtf((float)d) : 0.0f;
    float maximum = -INFINITY, denominator = 0.0f;
    for (int start = first; start < end; start += GROUPS) {
        int s = start + group;
        bool inside = s < end;
        size_t at = (head * length + (inside ? s : first)) * d + lane * 8;
        uint2 none = make_uint2(0, 0);
        uint2 key = there ? __ldcs(reinterpret_cast<const uint2*>(K + at)) : none;
        uint2 value = there ? __ldcs(reinterpret_cast<const uint2*>(V + at)) : none;
        float score = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++) score = fmaf(q[i], byte_of(key, i), score);
#pragma unroll
        for (int mask = LANES / 2; mask > 0; mask /= 2) score += __shfl_xor_sync(0xffffffffu, score, mask);
        if (!inside) continue;
        score *= k_scale[head * length + s];
        float largest = fmaxf(maximum, score);
        float rescale = exp2f(maximum - largest), weight = exp2f(score - largest);
        maximum = largest;
        denominator = fmaf(denominator, rescale, weight);
        weight *= v_scale[head * length + s];
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] = fmaf(sum[i], rescale, weight * byte_of(value, i));
    }
#pragma unroll
    for (int i = 0; i < 8; i++) outputs[group][lane * 8 + i] = sum[i];
    if (lane == 0) of_group[group] = make_float2(maximum, denominator);
    __syncthreads();
    float top = -INFINITY;
    for (int g = 0; g < GROUPS; g++) top = fmaxf(top, of_group[g].x);
    size_t piece = head * gridDim.x + blockIdx.x;
    float total = 0.0f;
    for (int t = threadIdx.x; t < d; t += THREADS) {
        float result = 0.0f;
        for (int g = 0; g < GROUPS; g++) result = fmaf(exp2f(of_group[g].x - top), outputs[g][t], result);
        partial[piece * d + t] = result;
    }
    if (threadIdx.x == 0) {
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

extern "C" void solve(const float* Q, const int8_t* K_int8, const int8_t* V_int8, const float* k_scale, const float* v_scale, float* output,
                      int num_heads, int seq_len, int head_dim) {
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
    dim3 grid(pieces, num_heads);
    if (head_dim <= 64) {
        decode<64><<<grid, THREADS>>>(Q, K_int8, V_int8, k_scale, v_scale, partial, scratch, seq_len, head_dim);
    } else if (head_dim <= 128) {
        decode<128><<<grid, THREADS>>>(Q, K_int8, V_int8, k_scale, v_scale, partial, scratch, seq_len, head_dim);
    } else {
        decode<256><<<grid, THREADS>>>(Q, K_int8, V_int8, k_scale, v_scale, partial, scratch, seq_len, head_dim);
    }
    combine<<<num_heads, 128>>>(partial, scratch, output, pieces, head_dim);
}
