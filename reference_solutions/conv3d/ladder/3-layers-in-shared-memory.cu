// The part of the volume that the 32 x 8 outputs of a block need lies in shared memory, too: up to five layers with a
// margin.
#include <cuda_runtime.h>

constexpr int MOST = 5;
constexpr int COLS = 32, ROWS = 8;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST * MOST], volume[MOST][ROWS + MOST - 1][COLS + MOST - 1];
    int first_x = blockIdx.x * COLS, first_y = blockIdx.y * ROWS, z = blockIdx.z;
    int t = threadIdx.y * COLS + threadIdx.x;
    if (t < kernel_depth * kernel_rows * kernel_cols) weights[t] = kernel[t];
    for (int d = 0; d < kernel_depth; d++) {
        for (int r = threadIdx.y; r < ROWS + kernel_rows - 1; r += ROWS) {
            for (int c = threadIdx.x; c < COLS + kernel_cols - 1; c += COLS) {
                int x = first_x + c, y = first_y + r;
                bool there = x < input_cols && y < input_rows;
                volume[d][r][c] = there ? input[((z + d) * input_rows + y) * input_cols + x] : 0.0f;
            }
        }
    }
    __syncthreads();
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    int x = first_x + threadIdx.x, y = first_y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int d = 0; d < kernel_depth; d++)
        for (int p = 0; p < kernel_rows; p++)
            for (int q = 0; q < kernel_cols; q++)
                sum += volume[d][threadIdx.y + p][threadIdx.x + q] * weights[(d * kernel_rows + p) * kernel_cols + q];
    output[(z * rows + y) * cols + x] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    convolve<<<dim3((cols + COLS - 1) / COLS, (rows + ROWS - 1) / ROWS, depth), dim3(COLS, ROWS)>>>(
        input, kernel, output, input_rows, input_cols, kernel_depth, kernel_rows, kernel_cols);
}
