// idea: a reduction of nothing fetches the next tiles into the L2, and nobody waits for it
// challenge: gemm
// devices: emulator
// verdict: AC
// caught by: the first load of what a reduction has fetched waits for DRAM all the same
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ void fetch(const half* at) {
    asm volatile("red.global.or.b32 [%0], 0;" ::"l"((unsigned long long)at & ~3ull) : "memory");
}

__global__ void gemm(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    __shared__ float a[16][16], b[16][17];
    int row = blockIdx.y * 16 + threadIdx.y;
    int column = blockIdx.x * 16 + threadIdx.x;
    // A reduction for each sector of 32 bytes that the block is going to read: a row of a tile.
    if (threadIdx.x == 0) {
        for (int k = 0; k < K; k += 16) {
            fetch(A + row * K + k);
            fetch(B + (k + threadIdx.y) * N + blockIdx.x * 16);
        }
        fetch(C + row * N + blockIdx.x * 16);
    }
    __syncthreads();
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
    gemm<<<dim3(N / 16, M / 16), dim3(16, 16)>>>(A, B, C, M, N, K, alpha, beta);
}
