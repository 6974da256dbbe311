// A thread makes four outputs, one below the other: a weight that is read and a turn of the loop serve four multiply-adds.
#include <cuda_runtime.h>

constexpr int MOST = 5;
constexpr int COLS = 32, ROWS = 8, LAYERS = 4;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int depth, int rows, int cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST * MOST];
    int t = threadIdx.y * COLS + threadIdx.x;
    if (t < kernel_depth * kernel_rows * kernel_cols) weights[t] = kernel[t];
    __syncthreads();
    int x = blockIdx.x * COLS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y, first_z = blockIdx.z * LAYERS;
    if (x >= cols || y >= rows) return;
    // Where there is no fourth layer of outputs any more, the last one is made again.
    const float* from[LAYERS];
#pragma unroll
    for (int l = 0; l < LAYERS; l++) from[l] = input + (min(first_z + l, depth - 1) * input_rows + y) * input_cols + x;
    float sum[LAYERS] = {};
    for (int d = 0; d < kernel_depth; d++) {
        for (int p = 0; p < kernel_rows; p++) {
            for (int q = 0; q < kernel_cols; q++) {
                float weight = weights[(d * kernel_rows + p) * kernel_cols + q];
                int further = (d * input_rows + p) * input_cols + q;
#pragma unroll
                for (int l = 0; l < LAYERS; l++) sum[l] += from[l][further] * weight;
            }
        }
    }
#pragma unroll
    for (int l = 0; l < LAYERS; l++)
        if (first_z + l < depth) output[((first_z + l) * rows + y) * cols + x] = sum[l];
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS, (depth + LAYERS - 1) / LAYERS);
    convolve<<<blocks, dim3(COLS, ROWS)>>>(input, kernel, output, input_rows, input_cols, depth, rows, cols, kernel_depth,
                                           kernel_rows, kernel_cols);
}
