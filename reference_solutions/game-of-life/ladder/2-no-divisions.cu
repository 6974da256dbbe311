// The field is closed by comparisons in place of remainders.
#include <cuda_runtime.h>

__global__ void live(const unsigned char* cells, unsigned char* next, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    int up = (r > 0 ? r - 1 : rows - 1) * cols, here = r * cols, down = (r + 1 < rows ? r + 1 : 0) * cols;
    int left = c > 0 ? c - 1 : cols - 1, right = c + 1 < cols ? c + 1 : 0;
    int count = cells[up + left] + cells[up + c] + cells[up + right] + cells[here + left] + cells[here + right] + cells[down + left] +
                cells[down + c] + cells[down + right];
    next[here + c] = count == 3 || (count == 2 && cells[here + c]);
}

extern "C" void solve(const unsigned char* cells, unsigned char* next, int rows, int cols) {
    live<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(cells, next, rows, cols);
}
