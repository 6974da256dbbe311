// expect: case=batch-2-rows-72-cols-104
// Where both sizes divide by 8, tiles of 64 x 64 are read and written by eights. Only whole tiles get a block.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 64;

__global__ void eights(const half *input, half *output, int rows, int cols) {
    __shared__ half tile[TILE][TILE + 2];
    input += (size_t)blockIdx.z * rows * cols;
    output += (size_t)blockIdx.z * rows * cols;
    int first_col = blockIdx.x * TILE, first_row = blockIdx.y * TILE;
    int line = threadIdx.x / 8, place = threadIdx.x % 8 * 8;
    for (int i = line; i < TILE; i += 32) {
        if (first_row + i >= rows || first_col + place >= cols) continue;
        uint4 read = *(const uint4 *)(input + (size_t)(first_row + i) * cols + first_col + place);
        for (int j = 0; j < 8; ++j) tile[i][place + j] = ((const half *)&read)[j];
    }
    __syncthreads();
    for (int i = line; i < TILE; i += 32) {
        if (first_col + i >= cols || first_row + place >= rows) continue;
        uint4 written;
        for (int j = 0; j < 8; ++j) ((half *)&written)[j] = tile[place + j][i];
        *(uint4 *)(output + (size_t)(first_col + i) * rows + first_row + place) = written;
    }
}

__global__ void ones(const half *input, half *output, int rows, int cols) {
    size_t first = (size_t)blockIdx.z * rows * cols;
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) output[first + (size_t)col * rows + row] = input[first + (size_t)row * cols + col];
}

extern "C" void solve(const half *input, half *output, int batch, int rows, int cols) {
    if (rows % 8 == 0 && cols % 8 == 0) {
        dim3 blocks(cols < TILE ? 1 : cols / TILE, rows < TILE ? 1 : rows / TILE, batch);
        eights<<<blocks, 256>>>(input, output, rows, cols);
    } else {
        dim3 blocks((cols + 15) / 16, (rows + 15) / 16, batch);
        ones<<<blocks, dim3(16, 16)>>>(input, output, rows, cols);
    }
}
