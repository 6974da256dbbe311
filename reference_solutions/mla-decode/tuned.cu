// A block takes 32 heads and a piece of the sequence. Queries stay in shared memory; 32 positions of the cache at a time come beside them
// and serve both products: each thread makes 2 x 2 scores, and sums 8 heads x 8 elements of the output in registers. Pieces meet in a
// second kernel.
#include <cuda_runtime.h>
#include <math.h>

constexpr int HEADS = 32, STEP = 32, THREADS = 256, PIECE = 512;
constexpr float LOG2_E = 1.4426950408889634f;

__device__ float dot(float4 a, float4 b, float sum) { return fmaf(a.x, b.x, fmaf(a.y, b.y, fmaf(a.z, b.z, fmaf(a.w, b.w, sum)))); }

// Rows of two matrices, one after the other, as rows of `stride` elements; zeros after `count` rows.
__device__ void bring(float* to, const float* first, int width, const float* second, int rest, int count, int stride, float factor) {
    int fours = (width + rest) / 4;
    for (int i = threadIdx.x; i < 32 * fours; i += THREADS) {
        int row = i / fours, at = i % fours * 4;
        float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (row < count) {
            const float* from = at < width ? first + (size_t)row * width + at : second + (size_t)row * rest + at - width;
            four = *reinterpret_cast<const float4*>(from);
        }
        *reinterpret_cast<float4*>(to + row * stride + at) = make_float4(four.x * factor, four.y * factor, four.z * factor, four.w * factor);
    }
}

__global__ void __launch_bounds__(THREADS, 1)
    decode(const float* __restrict__ q_latent, const float* __restrict__ q_rope, const float* __restrict__ kv_latent,
           const float* __restrict__ k_rope, float* __restrict__ partial, float2* __restrict__ statistics, int heads, int length, int latent,
           int rope, float scale) {
    extern __shared__ __align__(16) float memory[];
    __shared__ float scores[HEADS][STEP + 1], rescale[HEADS];
    __shared__ __align__(16) float weights[STEP][HEADS + 4];
    int width = latent + rope, stride = width + 4;
    float *queries = memory, *cache = memory + HEADS * stride;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first_head = blockIdx.y * HEADS, count = min(HEADS, heads - first_head);
    size_t sequence = blockIdx.z, head = sequence * heads + first_head;
    int first = blockIdx.x * PIECE, end = min(length, first + PIECE);
    bring(queries, q_latent + head * latent, latent, q_rope + head * rope, rope, count, stride, scale * LOG2_E);
    // This thread's part of the output: heads from `above` on, elements from `left` and `left + 256` on, four each.
    int above = threadIdx.x / 64 * 8, left = threadIdx.x % 64 * 4;
    float sum[8][8] = {}, maximum[4], denominator[4] = {};
    for (int i = 0; i < 4; i++) maximum[i] = -INFINITY;
    for (int start = first; start < end; start += STEP) {
        int here = min(STEP, end - start);
        size_t position = sequence * length + start;
        bring(cache, kv_latent + position * latent, latent, k_rope + position * rope, rope, here, stride, 1.0f);
        __syncthreads();
        {
            int row = threadIdx.x / 16 * 2, column = threadIdx.x % 16;
            const float *q = queries + row * stride, *k = cache + column * stride;
            float product[2][2] = {};
#pragma unroll 4
            for (int i = 0; i < width; i += 4) {
                float4 q0 = *reinterpret_cast<const float4*>(q + i), q1 = *reinterpret_cast<const float4*>(q + stride + i);
                float4 k0 = *reinterpret_cast<const float4*>(k + i), k1 = *reinterpret_cast<const float4*>(k + 16 * stride + i);
                product[0][0] = dot(q0, k0, product[0][0]);
                product[0][1] = dot(q0, k1, product[0][1]);
                product[1][0] = dot(q1, k0, product[1][0]);
                product[1][1] = dot(q1, k1, product[1][1]);
            }
            for (int i = 0; i < 2; i++) {
                for (int j = 0; j < 2; j++) scores[row + i][column + 16 * j] = product[i][j];
            }
        }
        __syncthreads();
        // Four heads for each warp, a position for each lane.
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int h = warp * 4 + i;
            float score = lane < here ? scores[h][lane] : -INFINITY, largest = score;
            for (int mask = 16; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
            largest = fmaxf(largest, maximum[i]);
            float weight = exp2f(score - largest), total = weight, factor = exp2f(maximum[i] - largest);
            for (int mask = 16; mask > 0; mask /= 2) total += __shfl_xor_sync(0xffffffffu, total, mask);
            denominator[i] = fmaf(denominator[i], factor, total);
            maximum[i] = largest;
            weights[lane][h] = weight;
            if (lane == 0) rescale[h] = factor;
        }
        __syncthreads();
#pragma unroll
        for (int h = 0; h < 8; h++) {
            float factor = rescale[above + h];
            for (int i = 0; i < 8; i++) sum[h][i] *= factor;
        }
        if (left < latent) {
            bool both = left + 256 < latent;
#pragma unroll 4
            for (int p = 0; p < STEP; p++) {
                float4 w0 = *reinterpret_cast<const float4*>(&weights[p][above]), w1 = *reinterpret_cast<const float4*>(&weights[p][above + 4]);
                float4 v0 = *reinterpret_cast<const float4*>(cache + p * stride + left), v1 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (both) v1 = *reinterpret_cast<const float4*>(cache + p * stride + left + 256);
                float w[8] = {w0.x, w0.y, w0.z, w0.w, w1.x, w1.y, w1.z, w1.w}, v[8] = {v0.x, v0.y, v0.z, v0.w, v1.x, v1.y, v1.z, v1.w};
#pragma unroll
                for (int h = 0; h < 8; h++) {
#pragma unroll
                    for (int i = 0; i < 8; i++) sum[h][i] = fmaf(w[h], v[i], sum[h][i]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 8; h++) {
        if (above + h >= count) continue;
        float* to = partial + ((head + above + h) * gridDim.x + blockIdx.x) * latent + left;
        if (left < latent) *reinterpret_cast<float4*>(to) = make_float4(sum[h][0], sum[h][1], sum[h][2], sum[h][3]);
        if (left + 256 < latent) *reinterpret_cast<float4*>(to + 256) = make_float4(sum[h][4], sum[h][5], sum[h][6], sum[h][7]);
    }
    for (int i = 0; i < 4; i++) {
        int h = warp * 4 + i;
        if (lane == 0 && h < count) statistics[(head + h) * gridDim.x + blockIdx.x] = make_float2(maximum[i], denominator[i]);
    }
}

__global__ void combine(const float* __restrict__ partial, const float2* __restrict__ statistics, float* __restrict__ output, int pieces,
                        int latent) {
    size_t head = blockIdx.x;
    float top = -INFINITY;
    for (int p = 0; p < pieces; p++) top = fmaxf(top, statistics[head * pieces + p].x);
    for (int i = threadIdx.x; i < latent; i += blockDim.x) {
        float sum = 0.0f, total = 0.0f;
        for (int p = 0; p < pieces; p++) {
            float2 of_piece = statistics[head * pieces + p];
            float weight = exp2f(of_piece.x - top);
            total = fmaf(weight, of_piece.y, total);
            sum = fmaf(weight, partial[(head * pieces + p) * latent + i], sum);
        }
        output[head * latent + i] = sum / total;
    }
}

extern "C" void solve(const float* q_latent, const float* q_rope, const float* kv_latent, const float* k_rope, float* output, int batch,
                      int num_heads, int seq_len, int latent_dim, int rope_dim, float scale) {
    static float2* scratch = nullptr;
    static size_t size = 0;
    int pieces = (seq_len + PIECE - 1) / PIECE;
    // An even number of pairs, so that what follows them is aligned.
    size_t count = (size_t)batch * num_heads * pieces, pairs = (count + 1) / 2 * 2;
    size_t needed = pairs * sizeof(float2) + count * sizeof(float) * latent_dim;
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    float* partial = reinterpret_cast<float*>(scratch + pairs);
    int bytes = sizeof(float) * (HEADS + STEP) * (latent_dim + rope_dim + 4);
    cudaFuncSetAttribute(decode, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    dim3 grid(pieces, (num_heads + HEADS - 1) / HEADS, batch);
    decode<<<grid, THREADS, bytes>>>(q_latent, q_rope, kv_latent, k_rope, partial, scratch, num_heads, seq_len, latent_dim, rope_dim, scale);
    combine<<<batch * num_heads, 128>>>(partial, scratch, output, pieces, latent_dim);
}
