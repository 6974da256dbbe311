#include <cuda_runtime.h>

constexpr int TILE = 32;

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += blockDim.y)
        if (x < cols && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = input[(y + i) * cols + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += blockDim.y)  // a warp reads a column: 32 rows of 32 floats, all in one bank
        if (x < rows && y + i < cols) output[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    dim3 grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose<<<grid, dim3(TILE, 8)>>>(input, output, rows, cols);
}
