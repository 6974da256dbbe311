// One thread per element of the rectangle; a block of 32 x 8 adds up its elements in shared memory, as a tree.
#include <cuda_runtime.h>

__global__ void sum_rectangle(const int* corner, int* output, int M, int rows, int cols) {
    __shared__ int part[256];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    int t = threadIdx.y * 32 + threadIdx.x;
    part[t] = row < rows && column < cols ? corner[row * M + column] : 0;
    for (int distance = 128; distance > 0; distance /= 2) {
        __syncthreads();
        if (t < distance) part[t] += part[t + distance];
    }
    if (t == 0) atomicAdd(output, part[0]);
}

extern "C" void solve(const int* input, int* output, int N, int M, int S_ROW, int E_ROW, int S_COL, int E_COL) {
    int rows = E_ROW - S_ROW + 1, cols = E_COL - S_COL + 1;
    sum_rectangle<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(input + S_ROW * M + S_COL, output, M, rows, cols);
}
