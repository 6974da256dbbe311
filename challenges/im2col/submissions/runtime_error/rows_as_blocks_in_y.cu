// expect: case=c-1024-h-8-w-9-kernel-size-8-stride-1-padding-0
// A block in y for each row of the output: there may be more rows than a grid has blocks in y.
#include <cuda_runtime.h>

__global__ void unfold(const float *input, float *output, int height, int width, int size, int stride, int padding,
                       int out_rows, int out_cols) {
    int patch = blockIdx.x * blockDim.x + threadIdx.x;
    if (patch >= out_rows * out_cols) return;
    int channel = blockIdx.y / (size * size), i = blockIdx.y / size % size, j = blockIdx.y % size;
    int row = patch / out_cols * stride + i - padding, col = patch % out_cols * stride + j - padding;
    bool is_inside = row >= 0 && col >= 0 && row < height && col < width;
    output[(size_t)blockIdx.y * out_rows * out_cols + patch] =
        is_inside ? input[((size_t)channel * height + row) * width + col] : 0;
}

extern "C" void solve(const float *input, float *output, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int out_rows = (H + 2 * padding - kernel_size) / stride + 1;
    int out_cols = (W + 2 * padding - kernel_size) / stride + 1;
    dim3 grid((out_rows * out_cols + 255) / 256, C * kernel_size * kernel_size);
    unfold<<<grid, 256>>>(input, output, H, W, kernel_size, stride, padding, out_rows, out_cols);
}
