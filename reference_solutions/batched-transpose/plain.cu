// A thread per element.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void transpose(const half* input, half* output, int rows, int cols) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    size_t first = (size_t)blockIdx.z * rows * cols;
    if (i < rows && j < cols) output[first + (size_t)j * rows + i] = input[first + (size_t)i * cols + j];
}

extern "C" void solve(const half* input, half* output, int batch, int rows, int cols) {
    transpose<<<dim3((cols + 31) / 32, (rows + 7) / 8, batch), dim3(32, 8)>>>(input, output, rows, cols);
}
