// The window is clipped to the image once, before the loops, which then ask nothing.
#include <cuda_runtime.h>

__global__ void pool(const float* input, float* output, int planes, int H, int W, int rows, int cols, int kernel_size,
                     int stride, int padding) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    int top = y * stride - padding, left = x * stride - padding;
    int first_row = max(top, 0), last_row = min(top + kernel_size, H);
    int first_column = max(left, 0), last_column = min(left + kernel_size, W);
    for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float* from = input + (size_t)plane * H * W;
        float largest = -INFINITY;
        for (int row = first_row; row < last_row; row++)
            for (int column = first_column; column < last_column; column++) largest = fmaxf(largest, from[row * W + column]);
        output[((size_t)plane * rows + y) * cols + x] = largest;
    }
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, cols = (W + 2 * padding - kernel_size) / stride + 1;
    dim3 threads(64, 4), blocks((cols + 63) / 64, (rows + 3) / 4, min(N * C, 65535));
    pool<<<blocks, threads>>>(input, output, N * C, H, W, rows, cols, kernel_size, stride, padding);
}
