// With 3 by 3 weights a thread goes down 16 rows of a column. It keeps the weights and three rows of its three columns in
// registers, so that each output needs one new row; the columns beside it come from the neighbouring lanes by shuffles, and
// from memory only at the ends of a warp. Other sizes use shared memory: a tile with its rim, and the weights.
#include <cuda_runtime.h>

constexpr int ROWS = 16;
constexpr int TILE = 32;
constexpr int LARGEST = 15;

__global__ void __launch_bounds__(128) filter_3(const float* __restrict__ input, const float* __restrict__ weights, float* __restrict__ output, int height,
                                                 int width) {
    int x = blockIdx.x * 128 + threadIdx.x, lane = threadIdx.x % 32, first = blockIdx.y * ROWS;
    long long channel = (long long)blockIdx.z * height * width;
    input += channel;
    float w[9];
#pragma unroll
    for (int i = 0; i < 9; i++) w[i] = __ldg(weights + blockIdx.z * 9 + i);
    float rows[3][3];
    for (int y = first - 1; y <= min(first + ROWS, height); y++) {
#pragma unroll
        for (int v = 0; v < 3; v++) {
            rows[0][v] = rows[1][v];
            rows[1][v] = rows[2][v];
        }
        bool is_row = y >= 0 && y < height;
        const float* row = input + (long long)y * width;
        float here = is_row && x < width ? row[x] : 0.0f;
        rows[2][0] = __shfl_up_sync(0xffffffffu, here, 1);
        rows[2][1] = here;
        rows[2][2] = __shfl_down_sync(0xffffffffu, here, 1);
        if (lane == 0) rows[2][0] = is_row && x > 0 && x - 1 < width ? row[x - 1] : 0.0f;
        if (lane == 31) rows[2][2] = is_row && x + 1 < width ? row[x + 1] : 0.0f;
        if (y <= first || x >= width) continue;
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 9; i++) sum += w[i] * rows[i / 3][i % 3];
        __stcs(output + channel + (long long)(y - 1) * width + x, sum);
    }
}

__global__ void __launch_bounds__(TILE * 8) filter_any(const float* __restrict__ input, const float* __restrict__ weights, float* __restrict__ output, int height,
                                                        int width, int size) {
    __shared__ float tile[TILE + LARGEST - 1][TILE + LARGEST - 1], taps[LARGEST * LARGEST];
    int reach = size / 2, side = TILE + size - 1;
    int left = blockIdx.x * TILE - reach, top = blockIdx.y * TILE - reach;
    long long channel = (long long)blockIdx.z * height * width;
    int t = threadIdx.y * TILE + threadIdx.x;
    for (int e = t; e < size * size; e += TILE * 8) taps[e] = weights[blockIdx.z * size * size + e];
    for (int e = t; e < side * side; e += TILE * 8) {
        int r = top + e / side, c = left + e % side;
        tile[e / side][e % side] = r >= 0 && r < height && c >= 0 && c < width ? input[channel + (long long)r * width + c] : 0.0f;
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int i = threadIdx.y; i < TILE; i += 8) {
        int y = blockIdx.y * TILE + i;
        if (x >= width || y >= height) continue;
        float sum = 0.0f;
        for (int u = 0; u < size; u++) {
            for (int v = 0; v < size; v++) sum += taps[u * size + v] * tile[i + u][threadIdx.x + v];
        }
        output[channel + (long long)y * width + x] = sum;
    }
}

extern "C" void solve(const float* input, const float* weights, float* output, int C, int H, int W, int K) {
    if (K == 3) {
        filter_3<<<dim3((W + 127) / 128, (H + ROWS - 1) / ROWS, C), 128>>>(input, weights, output, H, W);
    } else {
        filter_any<<<dim3((W + TILE - 1) / TILE, (H + TILE - 1) / TILE, C), dim3(TILE, 8)>>>(input, weights, output, H, W, K);
    }
}
