// Blocks of 32 x 8 threads: each thread moves four elements of the tile, loaded before the first is stored.
#include <cuda_runtime.h>

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    float value[4] = {};
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (column < cols && row + 8 * j < rows) value[j] = input[(size_t)(row + 8 * j) * cols + column];
#pragma unroll
    for (int j = 0; j < 4; j++) tile[threadIdx.y + 8 * j][threadIdx.x] = value[j];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int j = 0; j < 4; j++)
        if (column < rows && row + 8 * j < cols)
            output[(size_t)(row + 8 * j) * rows + column] = tile[threadIdx.x][threadIdx.y + 8 * j];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(input, output, rows, cols);
}
