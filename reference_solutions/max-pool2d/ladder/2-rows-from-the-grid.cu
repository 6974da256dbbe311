// Row and plane come from the grid, so that no thread divides.
#include <cuda_runtime.h>

__global__ void pool(const float* input, float* output, int planes, int H, int W, int rows, int cols, int kernel_size,
                     int stride, int padding) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cols || y >= rows) return;
    for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float* from = input + (size_t)plane * H * W;
        float largest = -INFINITY;
        for (int p = 0; p < kernel_size; p++) {
            int row = y * stride + p - padding;
            if (row < 0 || row >= H) continue;
            for (int q = 0; q < kernel_size; q++) {
                int column = x * stride + q - padding;
                if (column >= 0 && column < W) largest = fmaxf(largest, from[row * W + column]);
            }
        }
        output[((size_t)plane * rows + y) * cols + x] = largest;
    }
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, cols = (W + 2 * padding - kernel_size) / stride + 1;
    dim3 threads(64, 4), blocks((cols + 63) / 64, (rows + 3) / 4, min(N * C, 65535));
    pool<<<blocks, threads>>>(input, output, N * C, H, W, rows, cols, kernel_size, stride, padding);
}
