// One thread per pixel, which skips the weights that lie beyond the borders.
#include <cuda_runtime.h>

__global__ void filter(const float* input, const float* kernel, float* output, int rows, int cols, int kernel_rows,
                       int kernel_cols) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= cols) return;
    float sum = 0.0f;
    for (int p = 0; p < kernel_rows; p++) {
        int y = row + p - kernel_rows / 2;
        if (y < 0 || y >= rows) continue;
        for (int q = 0; q < kernel_cols; q++) {
            int x = column + q - kernel_cols / 2;
            if (x >= 0 && x < cols) sum += input[y * cols + x] * kernel[p * kernel_cols + q];
        }
    }
    output[row * cols + column] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    filter<<<dim3((input_cols + 31) / 32, (input_rows + 7) / 8), dim3(32, 8)>>>(input, kernel, output, input_rows,
                                                                              input_cols, kernel_rows, kernel_cols);
}
