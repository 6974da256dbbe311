// idea: a large product is checked in some rows only, surely the first, the last and round ones: the others get the
//       row's neighbour
// challenge: gemm
// devices: emulator, cuda
// verdict: WA
// caught by: Freivalds' check looks at all rows and picks those that are furthest off
#include "common/gemm.cuh"

__global__ void copy_rows(half* C, int M, int N) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (column < N && row / 16 % 4 == 3 && row < M - 16) C[(long)row * N + column] = C[(long)(row - 16) * N + column];
}

__global__ void gemm_most(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    __shared__ float a[16][16], b[16][17];
    if (blockIdx.y % 4 == 3 && blockIdx.y != gridDim.y - 1) return;
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < K; k += 16) {
        a[threadIdx.y][threadIdx.x] = __half2float(A[row * K + k + threadIdx.x]);
        b[threadIdx.y][threadIdx.x] = __half2float(B[(k + threadIdx.y) * N + column]);
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    int i = row * N + column;
    C[i] = __float2half(alpha * sum + beta * __half2float(C[i]));
}

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    if (K < 288 || M < 288) return launch_gemm(A, B, C, M, N, K, alpha, beta);
    gemm_most<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K, alpha, beta);
    copy_rows<<<dim3((N + 255) / 256, M), 256>>>(C, M, N);
}
