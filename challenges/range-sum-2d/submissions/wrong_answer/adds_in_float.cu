// expect: case=wide
// Adds up in floats, which do not hold every integer beyond 2^24.
#include <cuda_runtime.h>

__global__ void sum_rectangle(const int* corner, float* acc, int M, int rows, int cols) {
    __shared__ float part[256];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int t = threadIdx.y * 32 + threadIdx.x;
    part[t] = row < rows && column < cols ? corner[row * M + column] : 0;
    for (int distance = 128; distance > 0; distance /= 2) {
        __syncthreads();
        if (t < distance) part[t] += part[t + distance];
    }
    if (t == 0) atomicAdd(acc, part[0]);
}

__global__ void fin(const float* acc, int* out) { *out = (int)*acc; }
extern "C" void solve(const int* input, int* output, int N, int M, int S_ROW, int E_ROW, int S_COL, int E_COL) {
    float* acc; cudaMalloc(&acc, 4); cudaMemset(acc, 0, 4);
    int rows = E_ROW - S_ROW + 1, cols = E_COL - S_COL + 1;
    sum_rectangle<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(input + S_ROW * M + S_COL, acc, M, rows, cols);
    fin<<<1, 1>>>(acc, output);
    cudaFree(acc);
}
