// Eight lanes a row, so that a warp has four rows: of short rows, fewer lanes have nothing to do.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int LANES = 8;

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int m) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    // All lanes of a warp take part in the shuffles, so those without a row stay.
    int begin = row < m ? row_offsets[row] : 0, end = row < m ? row_offsets[row + 1] : 0;
    float sum = 0.0f;
    for (int e = begin + lane; e < end; e += LANES) sum += values[e] * x[columns[e]];
    for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (row < m && lane == 0) y[row] = sum;
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M, int N, int nnz) {
    int rows = THREADS / LANES;
    multiply<<<(M + rows - 1) / rows, THREADS>>>(row_offsets, columns, values, x, y, M);
}
