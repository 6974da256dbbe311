// Products in tiles of 64 x 64 with 4 x 4 sums in registers, bias, GELU and the added input at their end; where tiles are few, the inner
// sum is shared out over blocks, which add to an output that holds the rest already. Attention keeps its scores on the chip.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WIDTH = 768, HEADS = 12, HEAD = 64, HIDDEN = 3072;
constexpr int ATTEND_BYTES = sizeof(float) * (64 * HEAD + 64 * (HEAD + 1) + 64 * 64);
constexpr float LOG2_E = 1.4426950408889634f;

__device__ float block_sum(float value) {
    __shared__ float of_warp[8];
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int w = 0; w < 8; w++) value += of_warp[w];
    __syncthreads();
    return value;
}

// The norm of a token; with `to` also the token itself plus the bias of the product that is added to it.
__global__ void __launch_bounds__(256) norm(const float* __restrict__ x, const float* __restrict__ gain, const float* __restrict__ bias,
                                            float* __restrict__ y, const float* __restrict__ added_bias, float* __restrict__ to) {
    x += blockIdx.x * WIDTH;
    y += blockIdx.x * WIDTH;
    to += blockIdx.x * WIDTH;
    float own[3], sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (int i = 0; i < 3; i++) sum += own[i] = x[threadIdx.x + 256 * i];
    float mean = block_sum(sum) / WIDTH;
#pragma unroll
    for (int i = 0; i < 3; i++) squares = fmaf(own[i] - mean, own[i] - mean, squares);
    float factor = rsqrtf(block_sum(squares) / WIDTH + 1e-5f);
#pragma unroll
    for (int i = 0; i < 3; i++) {
        int c = threadIdx.x + 256 * i;
        y[c] = fmaf(gain[c] * factor, own[i] - mean, bias[c]);
        to[c] = own[i] + added_bias[c];
    }
}

// acc += x W for a tile of 64 x 64 of all rows and columns, by 256 threads with 4 x 4 sums each, for the inputs from `first` to `end`,
// multiples of 16. W is inputs x outputs.
__device__ void multiply(float (&acc)[4][4], const float* __restrict__ x, const float* __restrict__ W, int rows, int row, int column,
                         int first, int end, int inputs, int outputs) {
    __shared__ float as[16][68], bs[16][68];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    for (int k0 = first; k0 < end; k0 += 16) {
        int r = t / 4, k = t % 4 * 4;
        float4 u = make_float4(0, 0, 0, 0);
        if (row + r < rows) u = *reinterpret_cast<const float4*>(&x[(row + r) * inputs + k0 + k]);
        as[k][r] = u.x;
        as[k + 1][r] = u.y;
        as[k + 2][r] = u.z;
        as[k + 3][r] = u.w;
        *reinterpret_cast<float4*>(&bs[t / 16][tx * 4]) = *reinterpret_cast<const float4*>(&W[(k0 + t / 16) * outputs + column + tx * 4]);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 p = *reinterpret_cast<const float4*>(&as[i][ty * 4]), q = *reinterpret_cast<const float4*>(&bs[i][tx * 4]);
            float left[4] = {p.x, p.y, p.z, p.w}, right[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int a = 0; a < 4; a++) {
#pragma unroll
                for (int b = 0; b < 4; b++) acc[a][b] = fmaf(left[a], right[b], acc[a][b]);
            }
        }
        __syncthreads();
    }
}

template <bool GELU>
__global__ void __launch_bounds__(256) product(const float* __restrict__ x, const float* __restrict__ W, const float* __restrict__ bias,
                                               float* __restrict__ y, int rows, int inputs, int outputs) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};
    multiply(acc, x, W, rows, row, column, 0, inputs, inputs, outputs);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r >= rows) continue;
            float z = acc[i][j] + bias[c];
            if (GELU) z *= 0.5f * (1.0f + tanhf(0.7978845608028654f * (z + 0.044715f * z * z * z)));
            y[r * outputs + c] = z;
        }
    }
}

__global__ void __launch_bounds__(256) product_added(const float* __restrict__ x, const float* __restrict__ W, float* __restrict__ y, int rows,
                                                     int inputs, int outputs, int share) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};
    multiply(acc, x, W, rows, row, column, blockIdx.z * share, min(inputs, (int)(blockIdx.z + 1) * share), inputs, outputs);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < rows) atomicAdd(&y[r * outputs + c], acc[i][j]);
        }
    }
}

static void add_product(const float* x, const float* W, float* y, int rows, int inputs) {
    dim3 grid(WIDTH / 64, (rows + 63) / 64, 1);
    int pieces = max(1, min(inputs / 192, 528 / (int)(grid.x * grid.y)));
    int share = ((inputs + pieces - 1) / pieces + 15) / 16 * 16;
    grid.z = (inputs + share - 1) / share;
    product_added<<<grid, 256>>>(x, W, y, rows, inputs, WIDTH, share);
}

// A block per 64 queries of a head, a warp for 8 of them. 64 keys at a time lie in shared memory, then the values; a lane holds two
// scores of each query, and two elements of its output.
__global__ void __launch_bounds__(256) attend(const float* __restrict__ qkv, float* __restrict__ out, int n) {
    extern __shared__ float shared[];
    float(*queries)[HEAD] = reinterpret_cast<float(*)[HEAD]>(shared);
    float(*tile)[HEAD + 1] = reinterpret_cast<float(*)[HEAD + 1]>(shared + 64 * HEAD);
    float(*weights)[64] = reinterpret_cast<float(*)[64]>(shared + 64 * HEAD + 64 * (HEAD + 1));
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 64;
    const float *Q = qkv + blockIdx.y * HEAD, *K = Q + WIDTH, *V = K + WIDTH;
    constexpr int q_stride = 3 * WIDTH, k_stride = 3 * WIDTH;
    for (int e = threadIdx.x; e < 64 * HEAD; e += 256) {
        int r = row + e / HEAD;
        queries[e / HEAD][e % HEAD] = r < n ? Q[(size_t)r * q_stride + e % HEAD] * 0.125f * LOG2_E : 0.0f;
    }
    float maximum[8], total[8] = {}, sum[8][2] = {};
    for (int i = 0; i < 8; i++) maximum[i] = -INFINITY;
    for (int first = 0; first < n; first += 64) {
        __syncthreads();
        for (int e = threadIdx.x; e < 64 * HEAD; e += 256) {
            int j = first + e / HEAD;
            tile[e / HEAD][e % HEAD] = j < n ? K[(size_t)j * k_stride + e % HEAD] : 0.0f;
        }
        __syncthreads();
        float scores[8][2] = {};
        for (int t = 0; t < HEAD; t++) {
            float left = tile[lane][t], right = tile[lane + 32][t];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float q = queries[warp * 8 + i][t];
                scores[i][0] = fmaf(q, left, scores[i][0]);
                scores[i][1] = fmaf(q, right, scores[i][1]);
            }
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int last = n - 1;
            if (first + lane > last) scores[i][0] = -INFINITY;
            if (first + lane + 32 > last) scores[i][1] = -INFINITY;
            float largest = fmaxf(maximum[i], fmaxf(scores[i][0], scores[i][1]));
            for (int mask = 16; mask > 0; mask /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, mask));
            float rescale = exp2f(maximum[i] - largest), left = exp2f(scores[i][0] - largest), right = exp2f(scores[i][1] - largest);
            maximum[i] = largest;
            total[i] = fmaf(total[i], rescale, left + right);
            sum[i][0] *= rescale;
            sum[i][1] *= rescale;
            weights[warp * 8 + i][lane] = left;
            weights[warp * 8 + i][lane + 32] = right;
        }
        __syncthreads();
        for (int e = threadIdx.x; e < 64 * HEAD; e += 256) {
            int j = first + e / HEAD;
            tile[e / HEAD][e % HEAD] = j < n ? V[(size_t)j * k_stride + e % HEAD] : 0.0f;
        }
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            float left = tile[j][lane], right = tile[j][lane + 32];
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float weight = weights[warp * 8 + i][j];
                sum[i][0] = fmaf(weight, left, sum[i][0]);
                sum[i][1] = fmaf(weight, right, sum[i][1]);
            }
        }
    }
    for (int i = 0; i < 8; i++) {
        for (int mask = 16; mask > 0; mask /= 2) total[i] += __shfl_xor_sync(0xffffffffu, total[i], mask);
        int r = row + warp * 8 + i;
        if (r >= n) continue;
        out[(size_t)r * WIDTH + blockIdx.y * HEAD + lane] = sum[i][0] / total[i];
        out[(size_t)r * WIDTH + blockIdx.y * HEAD + lane + 32] = sum[i][1] / total[i];
    }
}

static float* scratch(size_t floats) {
    static float* memory = nullptr;
    static size_t size = 0;
    if (floats > size) {
        cudaFree(memory);
        cudaMalloc(&memory, sizeof(float) * floats);
        size = floats;
    }
    return memory;
}

extern "C" void solve(const float* x, float* output, const float* weights, int seq_len) {
    size_t n = seq_len;
    const float* w = weights;
    float *normed = scratch(n * (3 * WIDTH + HIDDEN)), *heads = normed + n * WIDTH, *middle = heads + n * WIDTH, *wide = middle + n * WIDTH;
    int tiles = (seq_len + 63) / 64;
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, ATTEND_BYTES);
    norm<<<seq_len, 256>>>(x, w, w + 768, normed, w + 2363136, middle);
    product<false><<<dim3(3 * WIDTH / 64, tiles), 256>>>(normed, w + 1536, w + 1771008, wide, seq_len, WIDTH, 3 * WIDTH);
    attend<<<dim3(tiles, HEADS), 256, ATTEND_BYTES>>>(wide, heads, seq_len);
    add_product(heads, w + 1773312, middle, seq_len, WIDTH);
    norm<<<seq_len, 256>>>(middle, w + 2363904, w + 2364672, normed, w + 7087104, output);
    product<true><<<dim3(HIDDEN / 64, tiles), 256>>>(normed, w + 2365440, w + 4724736, wide, seq_len, WIDTH, HIDDEN);
    add_product(wide, w + 4727808, output, seq_len, HIDDEN);
}
