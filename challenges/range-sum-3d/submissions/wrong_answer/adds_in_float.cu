// expect: case=odd
// Adds up in floats, which do not hold every integer beyond 2^24.
#include <cuda_runtime.h>

__global__ void sum_box(const int* corner, float* total, int M, int K, int layers, int rows, int cols) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    int column = i % cols, row = i / cols % rows, layer = i / cols / rows;
    part[threadIdx.x] = layer < layers ? corner[(layer * M + row) * K + column] : 0;
    for (int distance = 128; distance > 0; distance /= 2) {
        __syncthreads();
        if (threadIdx.x < distance) part[threadIdx.x] += part[threadIdx.x + distance];
    }
    if (threadIdx.x == 0) atomicAdd(total, part[0]);
}

__global__ void convert(const float* total, int* output) { *output = (int)*total; }

extern "C" void solve(const int* input, int* output, int N, int M, int K, int S_DEP, int E_DEP, int S_ROW, int E_ROW,
                      int S_COL, int E_COL) {
    int layers = E_DEP - S_DEP + 1, rows = E_ROW - S_ROW + 1, cols = E_COL - S_COL + 1;
    const int* corner = input + (S_DEP * M + S_ROW) * K + S_COL;
    float* total;
    cudaMalloc(&total, sizeof(float));
    cudaMemset(total, 0, sizeof(float));
    sum_box<<<(layers * rows * cols + 255) / 256, 256>>>(corner, total, M, K, layers, rows, cols);
    convert<<<1, 1>>>(total, output);
    cudaFree(total);
}
