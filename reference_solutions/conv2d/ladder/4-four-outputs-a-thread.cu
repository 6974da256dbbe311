// A tile of 32 x 32 outputs for 256 threads: four outputs each, in rows eight apart. A weight that is read from shared
// memory once serves four multiply-adds, and the margin of the tile weighs less.
#include <cuda_runtime.h>

constexpr int MOST = 31;
constexpr int SIDE = 32, DOWN = 8, OUTPUTS = SIDE / DOWN;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST], image[SIDE + MOST - 1][SIDE + MOST - 1];
    int first_row = blockIdx.y * SIDE, first_col = blockIdx.x * SIDE;
    for (int i = threadIdx.y * SIDE + threadIdx.x; i < kernel_rows * kernel_cols; i += SIDE * DOWN) weights[i] = kernel[i];
    for (int r = threadIdx.y; r < SIDE + kernel_rows - 1; r += DOWN) {
        for (int c = threadIdx.x; c < SIDE + kernel_cols - 1; c += SIDE) {
            bool there = first_row + r < input_rows && first_col + c < input_cols;
            image[r][c] = there ? input[(first_row + r) * input_cols + first_col + c] : 0.0f;
        }
    }
    __syncthreads();
    float sum[OUTPUTS] = {};
    for (int p = 0; p < kernel_rows; p++) {
        for (int q = 0; q < kernel_cols; q++) {
            float weight = weights[p * kernel_cols + q];
#pragma unroll
            for (int o = 0; o < OUTPUTS; o++) sum[o] += image[threadIdx.y + o * DOWN + p][threadIdx.x + q] * weight;
        }
    }
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int column = first_col + threadIdx.x;
    if (column >= cols) return;
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) {
        int row = first_row + threadIdx.y + o * DOWN;
        if (row < rows) output[row * cols + column] = sum[o];
    }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    convolve<<<blocks, dim3(SIDE, DOWN)>>>(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols);
}
