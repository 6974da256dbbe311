// The block copies the weights into shared memory first: there all threads of a warp read the same word at once.
#include <cuda_runtime.h>

constexpr int MOST = 5;

__global__ void convolve(const float* input, const float* kernel, float* output, int input_rows, int input_cols,
                         int rows, int cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    __shared__ float weights[MOST * MOST * MOST];
    int t = threadIdx.y * 32 + threadIdx.x;
    if (t < kernel_depth * kernel_rows * kernel_cols) weights[t] = kernel[t];
    __syncthreads();
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    if (x >= cols || y >= rows) return;
    float sum = 0.0f;
    for (int d = 0; d < kernel_depth; d++)
        for (int p = 0; p < kernel_rows; p++)
            for (int q = 0; q < kernel_cols; q++)
                sum += input[((z + d) * input_rows + y + p) * input_cols + x + q] *
                       weights[(d * kernel_rows + p) * kernel_cols + q];
    output[(z * rows + y) * cols + x] = sum;
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_depth, int input_rows,
                      int input_cols, int kernel_depth, int kernel_rows, int kernel_cols) {
    int depth = input_depth - kernel_depth + 1, rows = input_rows - kernel_rows + 1, cols = input_cols - kernel_cols + 1;
    convolve<<<dim3((cols + 31) / 32, (rows + 7) / 8, depth), dim3(32, 8)>>>(
        input, kernel, output, input_rows, input_cols, rows, cols, kernel_depth, kernel_rows, kernel_cols);
}
