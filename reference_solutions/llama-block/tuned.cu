// Products in tiles of 64 x 64 with 4 x 4 sums in registers: one kernel makes queries, keys and values, another gate and up together,
// and where tiles are few, the inner sum is shared out over blocks, which add to an output that holds the input already. Attention
// keeps its scores on the chip and stops at the diagonal.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WIDTH = 512, HEADS = 8, GROUP = 4, HEAD = 64, KEYS = 128, HIDDEN = 1408;
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

// The norm of a token, and the token itself, to which a product is added later.
__global__ void __launch_bounds__(256) norm(const float* __restrict__ x, const float* __restrict__ gain, float* __restrict__ y,
                                            float* __restrict__ to) {
    int at = blockIdx.x * WIDTH + threadIdx.x;
    float left = x[at], right = x[at + 256];
    float factor = rsqrtf(block_sum(left * left + right * right) / WIDTH + 1e-5f);
    y[at] = left * factor * gain[threadIdx.x];
    y[at + 256] = right * factor * gain[threadIdx.x + 256];
    to[at] = left;
    to[at + 256] = right;
}

// acc += x W for a tile of 64 x 64 of all rows and columns, by 256 threads with 4 x 4 sums each, for the inputs from `first` to `end`,
// multiples of 16. W is outputs x inputs.
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
        float4 v = *reinterpret_cast<const float4*>(&W[(column + r) * inputs + k0 + k]);
        bs[k][r] = v.x;
        bs[k + 1][r] = v.y;
        bs[k + 2][r] = v.z;
        bs[k + 3][r] = v.w;
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

// Queries, keys and values lie side by side in y, as their weights do in W. A tile is one head, and threads whose columns are 32 apart
// turn theirs through shared memory.
__global__ void __launch_bounds__(256) project(const float* __restrict__ x, const float* __restrict__ W, const float* __restrict__ cosines,
                                               const float* __restrict__ sines, float* __restrict__ y, int rows) {
    __shared__ float tile[64][65];
    constexpr int OUTPUTS = WIDTH + 2 * KEYS;
    int row = blockIdx.y * 64, column = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};
    multiply(acc, x, W, rows, row, column, 0, WIDTH, WIDTH, OUTPUTS);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) tile[ty * 4 + i][tx * 4 + j] = acc[i][j];
    }
    __syncthreads();
    bool turned = column < WIDTH + KEYS;
    for (int e = threadIdx.x; e < 64 * 32; e += 256) {
        int r = e / 32, c = e % 32;
        if (row + r >= rows) continue;
        float left = tile[r][c], right = tile[r][c + 32];
        float cosine = turned ? cosines[(row + r) * 32 + c] : 1.0f, sine = turned ? sines[(row + r) * 32 + c] : 0.0f;
        y[(row + r) * OUTPUTS + column + c] = left * cosine - right * sine;
        y[(row + r) * OUTPUTS + column + c + 32] = left * sine + right * cosine;
    }
}

__global__ void __launch_bounds__(256) gate_up(const float* __restrict__ x, const float* __restrict__ gate, const float* __restrict__ up,
                                               float* __restrict__ y, int rows) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float gates[4][4] = {}, ups[4][4] = {};
    multiply(gates, x, gate, rows, row, column, 0, WIDTH, WIDTH, HIDDEN);
    multiply(ups, x, up, rows, row, column, 0, WIDTH, WIDTH, HIDDEN);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < rows) y[r * HIDDEN + c] = gates[i][j] / (1.0f + __expf(-gates[i][j])) * ups[i][j];
        }
    }
}

__global__ void __launch_bounds__(256) product_added(const float* __restrict__ x, const float* __restrict__ W, float* __restrict__ y, int rows,
                                                     int inputs, int share) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float acc[4][4] = {};
    multiply(acc, x, W, rows, row, column, blockIdx.z * share, min(inputs, (int)(blockIdx.z + 1) * share), inputs, WIDTH);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < rows) atomicAdd(&y[r * WIDTH + c], acc[i][j]);
        }
    }
}

static void add_product(const float* x, const float* W, float* y, int rows, int inputs) {
    dim3 grid(WIDTH / 64, (rows + 63) / 64, 1);
    int pieces = max(1, min(inputs / 128, 528 / (int)(grid.x * grid.y)));
    int share = ((inputs + pieces - 1) / pieces + 15) / 16 * 16;
    grid.z = (inputs + share - 1) / share;
    product_added<<<grid, 256>>>(x, W, y, rows, inputs, share);
}

// A block per 64 queries of a head, a warp for 8 of them. 64 keys at a time lie in shared memory, then the values; a lane holds two
// scores of each query, and two elements of its output.
__global__ void __launch_bounds__(256) attend(const float* __restrict__ qkv, float* __restrict__ out, int n) {
    extern __shared__ float shared[];
    float(*queries)[HEAD] = reinterpret_cast<float(*)[HEAD]>(shared);
    float(*tile)[HEAD + 1] = reinterpret_cast<float(*)[HEAD + 1]>(shared + 64 * HEAD);
    float(*weights)[64] = reinterpret_cast<float(*)[64]>(shared + 64 * HEAD + 64 * (HEAD + 1));
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.x * 64;
    const float *Q = qkv + blockIdx.y * HEAD, *K = qkv + WIDTH + blockIdx.y / GROUP * HEAD, *V = K + KEYS;
    constexpr int q_stride = WIDTH + 2 * KEYS, k_stride = WIDTH + 2 * KEYS;
    for (int e = threadIdx.x; e < 64 * HEAD; e += 256) {
        int r = row + e / HEAD;
        queries[e / HEAD][e % HEAD] = r < n ? Q[(size_t)r * q_stride + e % HEAD] * 0.125f * LOG2_E : 0.0f;
    }
    float maximum[8], total[8] = {}, sum[8][2] = {};
    for (int i = 0; i < 8; i++) maximum[i] = -INFINITY;
    for (int first = 0; first < min(n, row + 64); first += 64) {
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
            int last = row + warp * 8 + i;
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

extern "C" void solve(const float* x, float* output, const float* weights, const float* cos, const float* sin, int seq_len) {
    size_t n = seq_len;
    const float* w = weights;
    float *normed = scratch(n * (3 * WIDTH + HIDDEN)), *heads = normed + n * WIDTH, *middle = heads + n * WIDTH, *wide = middle + n * WIDTH;
    int tiles = (seq_len + 63) / 64;
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, ATTEND_BYTES);
    norm<<<seq_len, 256>>>(x, w, normed, middle);
    project<<<dim3((WIDTH + 2 * KEYS) / 64, tiles), 256>>>(normed, w + 512, cos, sin, wide, seq_len);
    attend<<<dim3(tiles, HEADS), 256, ATTEND_BYTES>>>(wide, heads, seq_len);
    add_product(heads, w + 393728, middle, seq_len, WIDTH);
    norm<<<seq_len, 256>>>(middle, w + 655872, normed, output);
    gate_up<<<dim3(HIDDEN / 64, tiles), 256>>>(normed, w + 656384, w + 1377280, wide, seq_len);
    add_product(wide, w + 2098176, output, seq_len, HIDDEN);
}
