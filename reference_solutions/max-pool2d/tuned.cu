// Rows and planes come from the grid, so that no thread divides; a thread makes four elements of a column, one below the
// other, whose loads are all in flight together. For windows of 3 x 3 the loops are unrolled at compile time. Windows that
// lie inside are not asked about borders; overlaps are left to the first-level cache.
#include <cuda_runtime.h>

constexpr int WIDTH = 64, HEIGHT = 4, PER_THREAD = 4;

// SIZE is the size of the windows, or 0 if it is only known at run time.
template <int SIZE>
__device__ float largest_of(const float* plane, int top, int left, int H, int W, int kernel_size) {
    int size = SIZE > 0 ? SIZE : kernel_size;
    float largest = -INFINITY;
    if (top >= 0 && left >= 0 && top + size <= H && left + size <= W) {
        const float* corner = plane + (size_t)top * W + left;
#pragma unroll(SIZE > 0 ? SIZE : 1)
        for (int p = 0; p < size; p++)
#pragma unroll(SIZE > 0 ? SIZE : 1)
            for (int q = 0; q < size; q++) largest = fmaxf(largest, __ldg(corner + p * W + q));
    } else {
#pragma unroll 1
        for (int row = max(top, 0); row < min(top + size, H); row++)
#pragma unroll 1
            for (int column = max(left, 0); column < min(left + size, W); column++)
                largest = fmaxf(largest, __ldg(plane + (size_t)row * W + column));
    }
    return largest;
}

template <int SIZE>
__global__ void __launch_bounds__(WIDTH* HEIGHT)
    pool(const float* __restrict__ input, float* __restrict__ output, int planes, int H, int W, int rows, int cols,
         int kernel_size, int stride, int padding) {
    int x = blockIdx.x * WIDTH + threadIdx.x;
    int first = blockIdx.y * (HEIGHT * PER_THREAD) + threadIdx.y;
    if (x >= cols) return;
    for (int plane = blockIdx.z; plane < planes; plane += gridDim.z) {
        const float* from = input + (size_t)plane * H * W;
        float* to = output + (size_t)plane * rows * cols;
        float largest[PER_THREAD] = {};
#pragma unroll
        for (int j = 0; j < PER_THREAD; j++) {
            int y = first + j * HEIGHT;
            if (y < rows) largest[j] = largest_of<SIZE>(from, y * stride - padding, x * stride - padding, H, W, kernel_size);
        }
#pragma unroll
        for (int j = 0; j < PER_THREAD; j++) {
            int y = first + j * HEIGHT;
            if (y < rows) __stcs(to + (size_t)y * cols + x, largest[j]);
        }
    }
}

extern "C" void solve(const float* input, float* output, int N, int C, int H, int W, int kernel_size, int stride,
                      int padding) {
    int rows = (H + 2 * padding - kernel_size) / stride + 1, cols = (W + 2 * padding - kernel_size) / stride + 1;
    dim3 threads(WIDTH, HEIGHT);
    dim3 blocks((cols + WIDTH - 1) / WIDTH, (rows + HEIGHT * PER_THREAD - 1) / (HEIGHT * PER_THREAD), min(N * C, 65535));
    if (kernel_size == 3) {
        pool<3><<<blocks, threads>>>(input, output, N * C, H, W, rows, cols, kernel_size, stride, padding);
    } else {
        pool<0><<<blocks, threads>>>(input, output, N * C, H, W, rows, cols, kernel_size, stride, padding);
    }
}
