// One thread per element of the output, found by divisions; it goes through its window and skips what lies outside.
#include <cuda_runtime.h>

__global__ void pool(const float* input, float* output, int planes, int H, int W, int rows, int cols, int kernel_size,
                     int stride, int padding) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= planes * rows * cols) return;
    int x = i % cols, y = i / cols % rows, plane = i / cols / rows;
    float largest = -INFINITY;
    for (int p = 0; p < kernel_size; p++) {
        int row = y * stride + p - padding;
        if (row < 0 || row >= H) continue;
        for (int q = 0; q < kernel_size; q++) {
            int column = x * stride + q - padding;
            if (column >= 0 && column < W) largest = fmaxf(largest, input[(plane * H + row) * W + column]);
        }
    }
    output[i] = largest;
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, cols = (W + 2 * padding - kernel_size) / stride + 1;
    int size = N * C * rows * cols;
    pool<<<(size + 255) / 256, 256>>>(input, output, N * C, H, W, rows, cols, kernel_size, stride, padding);
}
