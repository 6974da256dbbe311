// Winograd's F(2 x 2, 3 x 3) in three steps, some images at a time: tiles and weights are transformed, the 16 places of a tile are 16 matrix
// products over the channels (128 x 64 outputs a block, 8 x 4 a thread, double-buffered tiles in shared memory), and the sums are transformed back.
#include <cuda_runtime.h>

constexpr int ROWS = 128, COLUMNS = 64, DEPTH = 8, THREADS = 256;
constexpr size_t SCRATCH = (size_t)768 << 20;

// One thread a filter: U[place][k][c] = G g G^T.
__global__ void transform_weights(const float* __restrict__ weights, float* __restrict__ U, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float* g = weights + (size_t)i * 9;
    float half_done[4][3];
    for (int q = 0; q < 3; q++) {
        float a = g[q], b = g[3 + q], c = g[6 + q];
        half_done[0][q] = a;
        half_done[1][q] = 0.5f * (a + b + c);
        half_done[2][q] = 0.5f * (a - b + c);
        half_done[3][q] = c;
    }
    for (int p = 0; p < 4; p++) {
        float a = half_done[p][0], b = half_done[p][1], c = half_done[p][2];
        float done[4] = {a, 0.5f * (a + b + c), 0.5f * (a - b + c), c};
        for (int q = 0; q < 4; q++) U[(size_t)(4 * p + q) * count + i] = done[q];
    }
}

// One thread a tile of a channel: V[place][c][tile] = B^T d B.
__global__ void transform_input(const float* __restrict__ input, float* __restrict__ V, int images, int in_channels, int height, int width,
                                int down, int across) {
    int tile = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y;
    int tiles = images * down * across;
    if (tile >= tiles) return;
    int n = tile / (down * across), row = tile / across % down * 2 - 1, column = tile % across * 2 - 1;
    const float* image = input + ((size_t)n * in_channels + c) * height * width;
    float d[4][4];
#pragma unroll
    for (int p = 0; p < 4; p++) {
#pragma unroll
        for (int q = 0; q < 4; q++) {
            int y = row + p, x = column + q;
            d[p][q] = y >= 0 && y < height && x >= 0 && x < width ? image[y * width + x] : 0.0f;
        }
    }
#pragma unroll
    for (int q = 0; q < 4; q++) {
        float a = d[0][q], b = d[1][q], e = d[2][q], f = d[3][q];
        d[0][q] = a - e;
        d[1][q] = b + e;
        d[2][q] = e - b;
        d[3][q] = b - f;
    }
    float* to = V + (size_t)c * tiles + tile;
    size_t stride = (size_t)in_channels * tiles;
#pragma unroll
    for (int p = 0; p < 4; p++) {
        to[(4 * p) * stride] = d[p][0] - d[p][2];
        to[(4 * p + 1) * stride] = d[p][1] + d[p][2];
        to[(4 * p + 2) * stride] = d[p][2] - d[p][1];
        to[(4 * p + 3) * stride] = d[p][1] - d[p][3];
    }
}

// S[place] = U[place] V[place]: M x K times K x N.
__global__ void __launch_bounds__(THREADS) multiply(const float* __restrict__ U, const float* __restrict__ V, float* __restrict__ S, int M, int N,
                                                    int K) {
    __shared__ __align__(16) float a[2][DEPTH][ROWS];
    __shared__ __align__(16) float b[2][DEPTH][COLUMNS];
    U += (size_t)blockIdx.z * M * K;
    V += (size_t)blockIdx.z * K * N;
    S += (size_t)blockIdx.z * M * N;
    int first_row = blockIdx.y * ROWS, first_column = blockIdx.x * COLUMNS, t = threadIdx.x;
    float next_a[ROWS * DEPTH / THREADS], next_b[COLUMNS * DEPTH / THREADS];
    auto load = [&](int begin) {
#pragma unroll
        for (int j = 0; j < ROWS * DEPTH / THREADS; j++) {
            int i = j * THREADS + t, row = first_row + i / DEPTH, k = begin + i % DEPTH;
            next_a[j] = row < M && k < K ? U[(size_t)row * K + k] : 0.0f;
        }
#pragma unroll
        for (int j = 0; j < COLUMNS * DEPTH / THREADS; j++) {
            int i = j * THREADS + t, k = begin + i / COLUMNS, column = first_column + i % COLUMNS;
            next_b[j] = k < K && column < N ? V[(size_t)k * N + column] : 0.0f;
        }
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int j = 0; j < ROWS * DEPTH / THREADS; j++) {
            int i = j * THREADS + t;
            a[buffer][i % DEPTH][i / DEPTH] = next_a[j];
        }
#pragma unroll
        for (int j = 0; j < COLUMNS * DEPTH / THREADS; j++) {
            int i = j * THREADS + t;
            b[buffer][i / COLUMNS][i % COLUMNS] = next_b[j];
        }
    };
    int x = t % 16 * 4, y = t / 16 * 4;
    float sum[8][4] = {};
    load(0);
    store(0);
    __syncthreads();
    for (int begin = 0, buffer = 0; begin < K; begin += DEPTH, buffer ^= 1) {
        bool more = begin + DEPTH < K;
        if (more) load(begin + DEPTH);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float4 low = *reinterpret_cast<const float4*>(&a[buffer][k][y]), high = *reinterpret_cast<const float4*>(&a[buffer][k][y + ROWS / 2]);
            float4 right = *reinterpret_cast<const float4*>(&b[buffer][k][x]);
            float left[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int i = 0; i < 8; i++) {
                sum[i][0] = fmaf(left[i], right.x, sum[i][0]);
                sum[i][1] = fmaf(left[i], right.y, sum[i][1]);
                sum[i][2] = fmaf(left[i], right.z, sum[i][2]);
                sum[i][3] = fmaf(left[i], right.w, sum[i][3]);
            }
        }
        if (more) store(buffer ^ 1);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int row = first_row + y + i % 4 + i / 4 * (ROWS / 2);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int column = first_column + x + j;
            if (row < M && column < N) S[(size_t)row * N + column] = sum[i][j];
        }
    }
}

// One thread a tile of a channel: A^T s A.
__global__ void transform_back(const float* __restrict__ S, float* __restrict__ output, int images, int out_channels, int height, int width, int down,
                               int across) {
    int tile = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    int tiles = images * down * across;
    if (tile >= tiles) return;
    size_t stride = (size_t)out_channels * tiles;
    const float* from = S + (size_t)k * tiles + tile;
    float half_done[2][4];
#pragma unroll
    for (int q = 0; q < 4; q++) {
        float a = from[q * stride], b = from[(4 + q) * stride], c = from[(8 + q) * stride], d = from[(12 + q) * stride];
        half_done[0][q] = a + b + c;
        half_done[1][q] = b - c - d;
    }
    int n = tile / (down * across), row = tile / across % down * 2, column = tile % across * 2;
    float* to = output + ((size_t)n * out_channels + k) * height * width;
#pragma unroll
    for (int p = 0; p < 2; p++) {
        if (row + p >= height) continue;
        const float* h = half_done[p];
        to[(row + p) * width + column] = h[0] + h[1] + h[2];
        if (column + 1 < width) to[(row + p) * width + column + 1] = h[1] - h[2] - h[3];
    }
}

extern "C" void solve(const float* input, const float* weights, float* output, int batch, int in_channels, int out_channels, int height,
                      int width) {
    static float* scratch = nullptr;
    static size_t size = 0;
    int down = (height + 1) / 2, across = (width + 1) / 2, filters = in_channels * out_channels;
    size_t of_image = sizeof(float) * 16 * (in_channels + out_channels) * down * across, of_weights = sizeof(float) * 16 * filters;
    int together = (int)max((size_t)1, min((size_t)batch, SCRATCH / of_image));
    size_t needed = of_weights + together * of_image;
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    float *U = scratch, *V = U + 16 * (size_t)filters, *S = V + 16 * (size_t)in_channels * together * down * across;
    transform_weights<<<(filters + 127) / 128, 128>>>(weights, U, filters);
    for (int first = 0; first < batch; first += together) {
        int images = min(together, batch - first), tiles = images * down * across;
        size_t points = (size_t)height * width;
        transform_input<<<dim3((tiles + 127) / 128, in_channels), 128>>>(input + first * in_channels * points, V, images, in_channels, height, width,
                                                                         down, across);
        multiply<<<dim3((tiles + COLUMNS - 1) / COLUMNS, (out_channels + ROWS - 1) / ROWS, 16), THREADS>>>(U, V, S, out_channels, tiles, in_channels);
        transform_back<<<dim3((tiles + 127) / 128, out_channels), 128>>>(S, output + first * out_channels * points, images, out_channels, height, width,
                                                                         down, across);
    }
}
