// A block of threads takes a piece of a sequence and up to four heads that share keys. A warp takes four positions at a time: each lane
// reads its few elements of four keys and values, shuffles complete the scores, and the running outputs stay in registers, with a
// running maximum for each warp. Warps meet in shared memory, pieces in a second kernel.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WARPS = 8, HEADS = 4, AT_ONCE = 4;
constexpr int PIECE = 256;
constexpr float LOG2_E = 1.4426950408889634f;

template <int EACH>
__device__ void read(float (&to)[EACH], const float* from, bool there) {
#pragma unroll
    for (int i = 0; i < EACH; i += 2) {
        float2 pair = there ? __ldg(reinterpret_cast<const float2*>(from + i)) : make_float2(0.0f, 0.0f);
        to[i] = pair.x;
        to[i + 1] = pair.y;
    }
}

// EACH: elements of a head for each lane.
template <int EACH>
__global__ void __launch_bounds__(WARPS * 32)
    decode(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V, const int* __restrict__ table,
           const int* __restrict__ lengths, float* __restrict__ partial, float2* __restrict__ statistics, int heads, int kv_heads, int d,
           int block_size, int max_blocks) {
    __shared__ float outputs[WARPS][EACH * 32];
    __shared__ float2 of_warp[WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, shared_by = heads / kv_heads, chunks = (shared_by + HEADS - 1) / HEADS;
    size_t s = blockIdx.z, kv = blockIdx.y / chunks;
    int first_head = kv * shared_by + blockIdx.y % chunks * HEADS, count = min(HEADS, (int)(kv + 1) * shared_by - first_head);
    int length = lengths[s], first = blockIdx.x * PIECE, end = min(length, first + PIECE);
    if (first >= length) return;
    bool there = lane * EACH < d;
    float q[HEADS][EACH], sum[HEADS][EACH] = {}, maximum[HEADS], denominator[HEADS];
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        read<EACH>(q[h], Q + (s * heads + first_head + h) * d + lane * EACH, there && h < count);
        for (int i = 0; i < EACH; i++) q[h][i] *= LOG2_E / sqrtf((float)d);
        maximum[h] = -INFINITY;
        denominator[h] = 0.0f;
    }
    for (int start = first + warp * AT_ONCE; start < end; start += WARPS * AT_ONCE) {
        float key[AT_ONCE][EACH], value[AT_ONCE][EACH];
#pragma unroll
        for (int p = 0; p < AT_ONCE; p++) {
            int t = min(start + p, end - 1);
            size_t block = table[s * max_blocks + t / block_size];
            size_t at = ((block * block_size + t % block_size) * kv_heads + kv) * d + lane * EACH;
            read<EACH>(key[p], K + at, there);
            read<EACH>(value[p], V + at, there);
        }
#pragma unroll
        for (int h = 0; h < HEADS; h++) {
            if (h >= count) break;
            float score[AT_ONCE], largest = maximum[h];
#pragma unroll
            for (int p = 0; p < AT_ONCE; p++) {
                score[p] = 0.0f;
                for (int i = 0; i < EACH; i++) score[p] = fmaf(q[h][i], key[p][i], score[p]);
#pragma unroll
                for (int mask = 16; mask > 0; mask /= 2) score[p] += __shfl_xor_sync(0xffffffffu, score[p], mask);
                if (start + p >= end) score[p] = -INFINITY;
                largest = fmaxf(largest, score[p]);
            }
            float rescale = exp2f(maximum[h] - largest);
            maximum[h] = largest;
            denominator[h] *= rescale;
            for (int i = 0; i < EACH; i++) sum[h][i] *= rescale;
#pragma unroll
            for (int p = 0; p < AT_ONCE; p++) {
                float weight = exp2f(score[p] - largest);
                denominator[h] += weight;
                for (int i = 0; i < EACH; i++) sum[h][i] = fmaf(weight, value[p][i], sum[h][i]);
            }
        }
    }
#pragma unroll
    for (int h = 0; h < HEADS; h++) {
        if (h >= count) break;
        for (int i = 0; i < EACH; i++) outputs[warp][lane * EACH + i] = sum[h][i];
        if (lane == 0) of_warp[warp] = make_float2(maximum[h], denominator[h]);
        __syncthreads();
        float top = -INFINITY, total = 0.0f;
        for (int w = 0; w < WARPS; w++) top = fmaxf(top, of_warp[w].x);
        size_t piece = (s * heads + first_head + h) * gridDim.x + blockIdx.x;
        for (int w = 0; w < WARPS; w++) total = fmaf(exp2f(of_warp[w].x - top), of_warp[w].y, total);
        for (int i = threadIdx.x; i < d; i += WARPS * 32) {
            float result = 0.0f;
            for (int w = 0; w < WARPS; w++) result = fmaf(exp2f(of_warp[w].x - top), outputs[w][i], result);
            partial[piece * d + i] = result;
        }
        if (threadIdx.x == 0) statistics[piece] = make_float2(top, total);
        __syncthreads();
    }
}

__global__ void combine(const float* __restrict__ partial, const float2* __restrict__ statistics, const int* __restrict__ lengths,
                        float* __restrict__ output, int most, int d) {
    size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    int pieces = (lengths[blockIdx.y] + PIECE - 1) / PIECE;
    float top = -INFINITY;
    for (int p = 0; p < pieces; p++) top = fmaxf(top, statistics[head * most + p].x);
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
        float sum = 0.0f, total = 0.0f;
        for (int p = 0; p < pieces; p++) {
            float2 of_piece = statistics[head * most + p];
            float weight = exp2f(of_piece.x - top);
            total = fmaf(weight, of_piece.y, total);
            sum = fmaf(weight, partial[(head * most + p) * d + i], sum);
        }
        output[head * d + i] = sum / total;
    }
}

extern "C" void solve(const float* Q, const float* K_cache, const float* V_cache, const int* block_table, const int* lengths, float* output,
                      int num_seqs, int num_heads, int num_kv_heads, int head_dim, int block_size, int max_blocks) {
    static float2* scratch = nullptr;
    static size_t size = 0;
    int pieces = (max_blocks * block_size + PIECE - 1) / PIECE;
    size_t count = (size_t)num_seqs * num_heads * pieces, needed = count * (sizeof(float2) + sizeof(float) * head_dim);
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    float* partial = reinterpret_cast<float*>(scratch + count);
    int chunks = (num_heads / num_kv_heads + HEADS - 1) / HEADS;
    dim3 grid(pieces, num_kv_heads * chunks, num_seqs);
    auto kernel = head_dim <= 64 ? decode<2> : head_dim <= 128 ? decode<4> : decode<8>;
    kernel<<<grid, WARPS * 32>>>(Q, K_cache, V_cache, block_table, lengths, partial, scratch, num_heads, num_kv_heads, head_dim, block_size,
                                 max_blocks);
    combine<<<dim3(num_heads, num_seqs), 128>>>(partial, scratch, lengths, output, pieces, head_dim);
}
