// Tiles of 64 x 32 pixels. The part of the image that a tile needs, with zeros for what lies beyond the borders, and the
// kernel, its rows padded with zeros to 24 weights, lie in shared memory: so the inner loop knows no borders. Each of 256
// threads makes four neighbouring pixels in each of two rows and takes the weights four at a time: three 16-byte loads serve
// 32 multiply-adds, and the pixels that one step loaded last, the next uses first.
#include <cuda_runtime.h>

constexpr int TILE_COLS = 64, TILE_ROWS = 32;
constexpr int ACROSS = TILE_COLS / 4, DOWN = 16, GROUPS = TILE_ROWS / DOWN;
constexpr int KERNEL = 24;  // a multiple of four, and more than the largest kernel has rows or columns
constexpr int WIDTH = TILE_COLS + KERNEL;

__global__ void __launch_bounds__(ACROSS* DOWN)
    convolve(const float* __restrict__ input, const float* __restrict__ kernel, float* __restrict__ output,
             int input_rows, int input_cols, int kernel_rows, int kernel_cols) {
    __shared__ __align__(16) float image[TILE_ROWS + KERNEL - 1][WIDTH];
    __shared__ __align__(16) float weights[KERNEL - 1][KERNEL];
    int first_row = blockIdx.y * TILE_ROWS, first_col = blockIdx.x * TILE_COLS;
    int border_rows = kernel_rows / 2, border_cols = kernel_cols / 2;
    int padded = (kernel_cols + 3) / 4 * 4;

    for (int i = threadIdx.x; i < kernel_rows * KERNEL; i += ACROSS * DOWN) {
        int p = i / KERNEL, q = i % KERNEL;
        weights[p][q] = q < kernel_cols ? kernel[p * kernel_cols + q] : 0.0f;
    }
    for (int i = threadIdx.x; i < (TILE_ROWS + kernel_rows - 1) * WIDTH; i += ACROSS * DOWN) {
        int r = i / WIDTH, c = i % WIDTH;
        int row = first_row + r - border_rows, col = first_col + c - border_cols;
        bool there = row >= 0 && row < input_rows && col >= 0 && col < input_cols && c < TILE_COLS + padded;
        image[r][c] = there ? input[row * input_cols + col] : 0.0f;
    }
    __syncthreads();

    int x = threadIdx.x % ACROSS * 4, y = threadIdx.x / ACROSS;
    float sum[GROUPS][4] = {};
    for (int p = 0; p < kernel_rows; p++) {
        float4 low[GROUPS];
#pragma unroll
        for (int g = 0; g < GROUPS; g++) low[g] = *reinterpret_cast<const float4*>(&image[y + g * DOWN + p][x]);
        for (int q = 0; q < padded; q += 4) {
            float4 w = *reinterpret_cast<const float4*>(&weights[p][q]);
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                float4 high = *reinterpret_cast<const float4*>(&image[y + g * DOWN + p][x + q + 4]);
                float v[7] = {low[g].x, low[g].y, low[g].z, low[g].w, high.x, high.y, high.z};
#pragma unroll
                for (int j = 0; j < 4; j++) sum[g][j] += v[j] * w.x + v[j + 1] * w.y + v[j + 2] * w.z + v[j + 3] * w.w;
                low[g] = high;
            }
        }
    }

#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        int row = first_row + y + g * DOWN;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int col = first_col + x + j;
            if (row < input_rows && col < input_cols) output[row * input_cols + col] = sum[g][j];
        }
    }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    dim3 blocks((input_cols + TILE_COLS - 1) / TILE_COLS, (input_rows + TILE_ROWS - 1) / TILE_ROWS);
    convolve<<<blocks, ACROSS * DOWN>>>(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols);
}
