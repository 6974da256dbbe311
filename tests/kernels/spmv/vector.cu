// A warp to a row: consecutive lanes read consecutive entries.
#include <cuda_runtime.h>

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32) sum += values[i] * x[columns[i]];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) y[row] = sum;
}

extern "C" void solve(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    multiply<<<(rows + 7) / 8, 256>>>(starts, columns, values, x, y, rows);
}
