// The block gives the channel and a strip of rows, so that no index is divided. Windows of 2 and 3 have their loops unrolled,
// and a window that does not touch the padding is added up without tests.
#include <cuda_runtime.h>

constexpr int WIDTH = 64;
constexpr int HEIGHT = 4;

template <int SIZE>  // 0: any
__global__ void __launch_bounds__(WIDTH * HEIGHT) pool(const float* __restrict__ input, float* __restrict__ output, int height, int width, int rows,
                                                        int columns, int any_size, int stride, int padding) {
    int size = SIZE > 0 ? SIZE : any_size;
    int column = blockIdx.y * WIDTH + threadIdx.x, row = blockIdx.z * HEIGHT + threadIdx.y;
    if (column >= columns || row >= rows) return;
    const float* channel = input + (long long)blockIdx.x * height * width;
    int top = row * stride - padding, left = column * stride - padding;
    float sum = 0.0f;
    if (top >= 0 && left >= 0 && top + size <= height && left + size <= width) {
        const float* window = channel + top * width + left;
#pragma unroll
        for (int u = 0; u < size; u++) {
#pragma unroll
            for (int v = 0; v < size; v++) sum += window[u * width + v];
        }
    } else {
        for (int r = max(top, 0); r < min(top + size, height); r++) {
            for (int c = max(left, 0); c < min(left + size, width); c++) sum += channel[r * width + c];
        }
    }
    __stcs(output + ((long long)blockIdx.x * rows + row) * columns + column, sum / (size * size));
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride, int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, columns = (W + 2 * padding - kernel_size) / stride + 1;
    dim3 blocks(N * C, (columns + WIDTH - 1) / WIDTH, (rows + HEIGHT - 1) / HEIGHT), threads(WIDTH, HEIGHT);
    if (kernel_size == 2) pool<2><<<blocks, threads>>>(input, output, H, W, rows, columns, 2, stride, padding);
    else if (kernel_size == 3) pool<3><<<blocks, threads>>>(input, output, H, W, rows, columns, 3, stride, padding);
    else pool<0><<<blocks, threads>>>(input, output, H, W, rows, columns, kernel_size, stride, padding);
}
