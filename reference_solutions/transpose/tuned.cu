// Tiles of 32 x 32 go through shared memory, so that reads and writes are both side by side. A 33rd column keeps the
// threads that read down a column on different banks. Each thread moves four elements, all loaded before the first is
// stored.
#include <cuda_runtime.h>

constexpr int SIDE = 32;
constexpr int HEIGHT = 8;  // rows of threads

__global__ void __launch_bounds__(SIDE* HEIGHT)
    transpose(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    __shared__ float tile[SIDE][SIDE + 1];
    int column = blockIdx.x * SIDE + threadIdx.x, row = blockIdx.y * SIDE + threadIdx.y;
    float value[SIDE / HEIGHT] = {};
#pragma unroll
    for (int j = 0; j < SIDE / HEIGHT; j++)
        if (column < cols && row + j * HEIGHT < rows)
            value[j] = __ldcs(input + (size_t)(row + j * HEIGHT) * cols + column);
#pragma unroll
    for (int j = 0; j < SIDE / HEIGHT; j++) tile[threadIdx.y + j * HEIGHT][threadIdx.x] = value[j];
    __syncthreads();

    // Now x runs along the rows of the output, which are columns of the input.
    column = blockIdx.y * SIDE + threadIdx.x, row = blockIdx.x * SIDE + threadIdx.y;
#pragma unroll
    for (int j = 0; j < SIDE / HEIGHT; j++)
        if (column < rows && row + j * HEIGHT < cols)
            __stcs(output + (size_t)(row + j * HEIGHT) * rows + column, tile[threadIdx.x][threadIdx.y + j * HEIGHT]);
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    dim3 blocks((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    transpose<<<blocks, dim3(SIDE, HEIGHT)>>>(input, output, rows, cols);
}
