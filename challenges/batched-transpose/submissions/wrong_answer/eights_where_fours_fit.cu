// expect: case=batch-3-rows-100-cols-44
// A thread takes eight columns where their number divides by four: the last four are left out.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void eights(const half *input, half *output, int rows, int cols) {
    size_t first = (size_t)blockIdx.z * rows * cols;
    int col = 8 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col + 7 >= cols) return;
    const uint2 *source = (const uint2 *)(input + first + (size_t)row * cols + col);
    uint2 pairs[2] = {source[0], source[1]};
    const half *values = (const half *)pairs;
    for (int i = 0; i < 8; ++i) output[first + (size_t)(col + i) * rows + row] = values[i];
}

__global__ void ones(const half *input, half *output, int rows, int cols) {
    size_t first = (size_t)blockIdx.z * rows * cols;
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) output[first + (size_t)col * rows + row] = input[first + (size_t)row * cols + col];
}

extern "C" void solve(const half *input, half *output, int batch, int rows, int cols) {
    dim3 threads(16, 16);
    bool fits = cols % 4 == 0 && cols >= 8;
    dim3 blocks((cols + (fits ? 127 : 15)) / (fits ? 128 : 16), (rows + 15) / 16, batch);
    (fits ? eights : ones)<<<blocks, threads>>>(input, output, rows, cols);
}
