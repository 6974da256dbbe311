// A thread makes four outputs, one below the other: a layer of inputs serves up to four layers of outputs, and a weight
// that is read from shared memory once serves four multiply-adds.
#include <cuda_runtime.h>

constexpr int MOST = 5;
constexpr int COLS = 32, ROWS = 8, LAYERS = 4;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                         int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST * MOST], volume[LAYERS + MOST - 1][ROWS + MOST - 1][COLS + MOST - 1];
    int first_x = blockIdx.x * COLS, first_y = blockIdx.y * ROWS, first_z = blockIdx.z * LAYERS;
    int t = threadIdx.y * COLS + threadIdx.x;
    if (t < kernel_depth * kernel_rows * kernel_cols) weights[t] = kernel[t];
    for (int l = 0; l < LAYERS + kernel_depth - 1; l++) {
        for (int r = threadIdx.y; r < ROWS + kernel_rows - 1; r += ROWS) {
            for (int c = threadIdx.x; c < COLS + kernel_cols - 1; c += COLS) {
                int x = first_x + c, y = first_y + r, z = first_z + l;
                bool there = x < input_cols && y < input_rows && z < input_depth;
                volume[l][r][c] = there ? input[(z * input_rows + y) * input_cols + x] : 0.0f;
            }
        }
    }
    __syncthreads();
    float sum[LAYERS] = {};
    for (int d = 0; d < kernel_depth; d++) {
        for (int p = 0; p < kernel_rows; p++) {
            for (int q = 0; q < kernel_cols; q++) {
                float weight = weights[(d * kernel_rows + p) * kernel_cols + q];
#pragma unroll
                for (int l = 0; l < LAYERS; l++) sum[l] += volume[l + d][threadIdx.y + p][threadIdx.x + q] * weight;
            }
        }
    }
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
    if (x >= cols || y >= rows) return;
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        if (first_z + l < depth) output[((first_z + l) * rows + y) * cols + x] = sum[l];
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS, (depth + LAYERS - 1) / LAYERS);
    convolve<<<blocks, dim3(COLS, ROWS)>>>(input, kernel, output, input_depth, input_rows, input_cols, kernel_depth,
                                           kernel_rows, kernel_cols);
}
