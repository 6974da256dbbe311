// Tiles of 64 x 64 halves in shared memory, read and written in pairs. A word of the tile holds two columns of a row; a thread that writes takes the same
// column of two rows. Where rows or columns are odd, tiles are moved half by half.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int SIDE = 64, DOWN = 8;

template <bool PAIRS>
__global__ void __launch_bounds__(32 * DOWN) transpose(const half* __restrict__ input, half* __restrict__ output, int rows, int cols) {
    __shared__ __align__(4) half tile[SIDE][SIDE + 2];
    size_t first = (size_t)blockIdx.z * rows * cols;
    int row = blockIdx.y * SIDE, column = blockIdx.x * SIDE, two = 2 * threadIdx.x;
#pragma unroll
    for (int y = threadIdx.y; y < SIDE; y += DOWN) {
        if (row + y >= rows || column + two >= cols) continue;
        const half* from = input + first + (size_t)(row + y) * cols + column + two;
        if (PAIRS) {
            *reinterpret_cast<half2*>(&tile[y][two]) = *reinterpret_cast<const half2*>(from);
        } else {
            tile[y][two] = from[0];
            if (column + two + 1 < cols) tile[y][two + 1] = from[1];
        }
    }
    __syncthreads();
#pragma unroll
    for (int x = threadIdx.y; x < SIDE; x += DOWN) {
        if (column + x >= cols || row + two >= rows) continue;
        half* to = output + first + (size_t)(column + x) * rows + row + two;
        if (PAIRS) {
            *reinterpret_cast<half2*>(to) = __halves2half2(tile[two][x], tile[two + 1][x]);
        } else {
            to[0] = tile[two][x];
            if (row + two + 1 < rows) to[1] = tile[two + 1][x];
        }
    }
}

extern "C" void solve(const half* input, half* output, int batch, int rows, int cols) {
    auto kernel = rows % 2 == 0 && cols % 2 == 0 ? transpose<true> : transpose<false>;
    kernel<<<dim3((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE, batch), dim3(32, DOWN)>>>(input, output, rows, cols);
}
