// The part of the image that the 32 x 8 outputs of a block need lies in shared memory, too.
#include <cuda_runtime.h>

constexpr int MOST = 31;
constexpr int TILE_COLS = 32, TILE_ROWS = 8;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST], image[TILE_ROWS + MOST - 1][TILE_COLS + MOST - 1];
    int first_row = blockIdx.y * TILE_ROWS, first_col = blockIdx.x * TILE_COLS;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < kernel_rows * kernel_cols; i += 256) weights[i] = kernel[i];
    for (int r = threadIdx.y; r < TILE_ROWS + kernel_rows - 1; r += TILE_ROWS) {
        for (int c = threadIdx.x; c < TILE_COLS + kernel_cols - 1; c += TILE_COLS) {
            bool there = first_row + r < input_rows && first_col + c < input_cols;
            image[r][c] = there ? input[(first_row + r) * input_cols + first_col + c] : 0.0f;
        }
    }
    __syncthreads();
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int column = first_col + threadIdx.x, row = first_row + threadIdx.y;
    if (row >= rows || column >= cols) return;
    float sum = 0.0f;
    for (int p = 0; p < kernel_rows; p++)
        for (int q = 0; q < kernel_cols; q++)
            sum += image[threadIdx.y + p][threadIdx.x + q] * weights[p * kernel_cols + q];
    output[row * cols + column] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 blocks((cols + TILE_COLS - 1) / TILE_COLS, (rows + TILE_ROWS - 1) / TILE_ROWS);
    convolve<<<blocks, dim3(TILE_COLS, TILE_ROWS)>>>(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols);
}
