// A thread for each element: a warp reads a row side by side and writes a column, a sector for each lane.
#include <cuda_runtime.h>

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && column < cols) output[column * rows + row] = input[row * cols + column];
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    dim3 threads(32, 8);
    dim3 blocks((cols + 31) / 32, (rows + 7) / 8);
    transpose<<<blocks, threads>>>(input, output, rows, cols);
}
