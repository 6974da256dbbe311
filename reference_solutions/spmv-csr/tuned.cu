// As many lanes a row as rows have elements in the mean, from 2 to 32: they read neighbouring elements and add up by
// shuffles. Elements are read once and so bypass the caches, which are left to x.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

template <int LANES>
__global__ void __launch_bounds__(THREADS) multiply(const int* __restrict__ row_offsets, const int* __restrict__ columns,
                                                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int m) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    bool is_there = row < m;
    int begin = is_there ? row_offsets[row] : 0, end = is_there ? row_offsets[row + 1] : 0;
    float sum = 0.0f;
#pragma unroll 4
    for (int e = begin + lane; e < end; e += LANES) sum += __ldcs(values + e) * __ldg(x + __ldcs(columns + e));
#pragma unroll
    for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (is_there && lane == 0) y[row] = sum;
}

template <int LANES>
void launch(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int m) {
    int rows = THREADS / LANES;
    multiply<LANES><<<(m + rows - 1) / rows, THREADS>>>(row_offsets, columns, values, x, y, m);
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* x, float* y, int M, int N, int nnz) {
    int mean = nnz / M;
    if (mean <= 2) launch<2>(row_offsets, columns, values, x, y, M);
    else if (mean <= 6) launch<4>(row_offsets, columns, values, x, y, M);
    else if (mean <= 12) launch<8>(row_offsets, columns, values, x, y, M);
    else if (mean <= 40) launch<16>(row_offsets, columns, values, x, y, M);
    else launch<32>(row_offsets, columns, values, x, y, M);
}
