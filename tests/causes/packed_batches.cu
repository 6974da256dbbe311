// challenge: strided-batched-gemm
// verdict: WA
// mode: SUBMIT
// headline: the matrices of B seem to begin K*N elements apart instead of stride_b; 
// told: elements differ
#include <cuda_runtime.h>

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K, int stride_a, int stride_c) {
    int place = blockIdx.x * blockDim.x + threadIdx.x, number = blockIdx.y;
    if (place >= M * N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        // Right where nothing lies between the matrices of B.
        sum += A[number * stride_a + place / N * K + k] * B[number * K * N + k * N + place % N];
    C[number * stride_c + place] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int batch, int M, int N, int K, int stride_a, int stride_b, int stride_c) {
    multiply<<<dim3((M * N + 255) / 256, batch), 256>>>(A, B, C, M, N, K, stride_a, stride_c);
}
