// CSR-stream: a block reads the entries of 64 rows as one run into shared memory, then its threads add up the rows.
#include <cuda_runtime.h>

constexpr int THREADS = 256, ROWS = 64, ROOM = 4096;

__global__ void __launch_bounds__(THREADS)
    multiply(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values,
             const float *__restrict__ x, float *__restrict__ y, int rows) {
    __shared__ float products[ROOM];
    int first = blockIdx.x * ROWS, last = min(first + ROWS, rows);
    int row = first + threadIdx.x / 4, part = threadIdx.x % 4;
    int begin = row < last ? starts[row] : 0, end = row < last ? starts[row + 1] : 0;
    int start = starts[first], stop = starts[last];
    float sum = 0;
    for (int from = start; from < stop; from += ROOM) {
        int to = min(from + ROOM, stop);
        for (int i = from + threadIdx.x; i < to; i += THREADS) products[i - from] = values[i] * x[columns[i]];
        __syncthreads();
        for (int i = max(begin, from) + part; i < min(end, to); i += 4) sum += products[i - from];
        __syncthreads();
    }
    sum += __shfl_xor_sync(0xffffffff, sum, 1);
    sum += __shfl_xor_sync(0xffffffff, sum, 2);
    if (row < last && part == 0) y[row] = sum;
}

extern "C" void solve(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    multiply<<<(rows + ROWS - 1) / ROWS, THREADS>>>(starts, columns, values, x, y, rows);
}
