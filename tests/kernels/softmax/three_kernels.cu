// A launch each for the maxima, the exponentials with their sums, and the division: what is in between goes through memory.
#include <cuda_runtime.h>
#include <math.h>

__global__ void maxima(const float *in, float *largest, int columns) {
    __shared__ float part[256];
    float mine = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256) mine = fmaxf(mine, in[(size_t)blockIdx.x * columns + i]);
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0) largest[blockIdx.x] = part[0];
}

__global__ void exponentials(const float *in, float *out, const float *largest, float *sums, int columns) {
    __shared__ float part[256];
    float mine = 0;
    for (int i = threadIdx.x; i < columns; i += 256) {
        float e = expf(in[(size_t)blockIdx.x * columns + i] - largest[blockIdx.x]);
        out[(size_t)blockIdx.x * columns + i] = e;
        mine += e;
    }
    part[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void divide(float *out, const float *sums, int rows, int columns) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * columns) out[i] /= sums[i / columns];
}

extern "C" void solve(const float *in, float *out, int rows, int columns) {
    static float *scratch = nullptr;
    static int room = 0;
    if (room < rows) {
        cudaFree(scratch);
        cudaMalloc(&scratch, 2 * rows * sizeof(float));
        room = rows;
    }
    maxima<<<rows, 256>>>(in, scratch, columns);
    exponentials<<<rows, 256>>>(in, out, scratch, scratch + rows, columns);
    divide<<<((size_t)rows * columns + 255) / 256, 256>>>(out, scratch + rows, rows, columns);
}
