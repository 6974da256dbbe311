// expect: case=many-outputs
// Keeps the number of outputs in 16 bits, so that of more than 65,535 some are never made.
#include <cuda_runtime.h>

__global__ void pool(const float* input, float* output, int H, int W, int size, int stride, int padding, int rows,
                     int columns, unsigned short count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        int x = i % columns * stride - padding, y = i / columns % rows * stride - padding;
        const float* channel = input + (size_t)(i / columns / rows) * H * W;
        float largest = -INFINITY;
        for (int r = max(y, 0); r < min(y + size, H); r++) {
            for (int c = max(x, 0); c < min(x + size, W); c++) largest = fmaxf(largest, channel[r * W + c]);
        }
        output[i] = largest;
    }
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, columns = (W + 2 * padding - kernel_size) / stride + 1;
    pool<<<256, 256>>>(input, output, H, W, kernel_size, stride, padding, rows, columns, N * C * rows * columns);
}
