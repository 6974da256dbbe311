// expect: case=rows-1031-cols-1099 cuda=WA,AC
// A block goes through several tiles without a barrier between them: a warp that is ahead overwrites numbers
// that others still read.
#include <cuda_runtime.h>

__global__ void transpose(const float* input, float* output, int rows, int cols) {
    __shared__ float tile[32][33];
    int across = (cols + 31) / 32, tiles = across * ((rows + 31) / 32);
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int r0 = t / across * 32, c0 = t % across * 32, x = threadIdx.x;
        for (int y = threadIdx.y; y < 32; y += 8) {
            if (r0 + y < rows && c0 + x < cols) tile[y][x] = input[(size_t)(r0 + y) * cols + c0 + x];
        }
        __syncthreads();
        for (int y = threadIdx.y; y < 32; y += 8) {
            if (c0 + y < cols && r0 + x < rows) output[(size_t)(c0 + y) * rows + r0 + x] = tile[x][y];
        }
    }
}
extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int tiles = ((rows + 31) / 32) * ((cols + 31) / 32);
    transpose<<<min(tiles, 1056), dim3(32, 8)>>>(input, output, rows, cols);
}
