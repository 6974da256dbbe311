// A block of 128 to a row, with a tree in shared memory: most threads have nothing to do.
#include <cuda_runtime.h>

__global__ void multiply(const int *starts, const int *columns, const float *values, const float *x, float *y) {
    __shared__ float part[128];
    float sum = 0;
    for (int i = starts[blockIdx.x] + threadIdx.x; i < starts[blockIdx.x + 1]; i += 128) sum += values[i] * x[columns[i]];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = part[0];
}

extern "C" void solve(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    multiply<<<rows, 128>>>(starts, columns, values, x, y);
}
