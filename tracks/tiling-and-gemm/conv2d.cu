// One thread per output, which reads image and weights through the caches.
#include <cuda_runtime.h>

__global__ void convolve(const float* input, const float* kernel, float* output, int input_cols, int rows, int cols,
                         int kernel_rows, int kernel_cols) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || column >= cols) return;
    float sum = 0.0f;
    for (int p = 0; p < kernel_rows; p++)
        for (int q = 0; q < kernel_cols; q++)
            sum += input[(row + p) * input_cols + column + q] * kernel[p * kernel_cols + q];
    output[row * cols + column] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                      int kernel_rows, int kernel_cols) {
    int rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    convolve<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(input, kernel, output, input_cols, rows, cols,
                                                                     kernel_rows, kernel_cols);
}
