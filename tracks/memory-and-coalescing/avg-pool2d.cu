// One thread an output; its index is divided into channel, row and column.
#include <cuda_runtime.h>

__global__ void pool(const float* input, float* output, int channels, int height, int width, int rows, int columns, int size, int stride, int padding) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= channels * rows * columns) return;
    int column = i % columns, row = i / columns % rows;
    const float* channel = input + (long long)(i / columns / rows) * height * width;
    float sum = 0.0f;
    for (int u = 0; u < size; u++) {
        int r = row * stride + u - padding;
        if (r < 0 || r >= height) continue;
        for (int v = 0; v < size; v++) {
            int c = column * stride + v - padding;
            if (c >= 0 && c < width) sum += channel[r * width + c];
        }
    }
    output[i] = sum / (size * size);
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride, int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, columns = (W + 2 * padding - kernel_size) / stride + 1;
    int outputs = N * C * rows * columns;
    pool<<<(outputs + 255) / 256, 256>>>(input, output, N * C, H, W, rows, columns, kernel_size, stride, padding);
}
