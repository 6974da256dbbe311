// A tile of 32 x 8 outputs: its pixels, with their halo, and the weights lie in shared memory.
#include <cuda_runtime.h>

constexpr int COLS = 32, ROWS = 8;
constexpr int MOST = 31;  // rows and columns of the largest filter

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int kernel_rows, int kernel_cols) {
    __shared__ float image[ROWS + MOST - 1][COLS + MOST - 1];
    __shared__ float weights[MOST * MOST];
    int first_row = blockIdx.y * ROWS, first_col = blockIdx.x * COLS;
    for (int i = threadIdx.y * COLS + threadIdx.x; i < kernel_rows * kernel_cols; i += ROWS * COLS) weights[i] = kernel[i];
    for (int r = threadIdx.y; r < ROWS + kernel_rows - 1; r += ROWS) {
        for (int c = threadIdx.x; c < COLS + kernel_cols - 1; c += COLS) {
            int row = first_row + r, col = first_col + c;
            image[r][c] = row < input_rows && col < input_cols ? input[(size_t)row * input_cols + col] : 0.0f;
        }
    }
    __syncthreads();
    float sum = 0.0f;
    for (int p = 0; p < kernel_rows; p++)
        for (int q = 0; q < kernel_cols; q++)
            sum += image[threadIdx.y + p][threadIdx.x + q] * weights[p * kernel_cols + q];
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row < rows && col < cols) output[(size_t)row * cols + col] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    dim3 grid((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS);
    convolve<<<grid, dim3(COLS, ROWS)>>>(input, kernel, output, input_rows, input_cols, kernel_rows, kernel_cols);
}
