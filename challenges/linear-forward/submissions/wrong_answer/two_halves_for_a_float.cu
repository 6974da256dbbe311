// Each factor is the sum of two halves, which keep 22 bits only of numbers that are not small: the tensor cores make
// three products of them. The second half of a small number is subnormal or 0.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;
__global__ void k(const float* A, const float* B, const float* bias, float* C, int M, int N, int K, int t) {
    __shared__ __half ah[256], al[256], bh[256], bl[256];
    __shared__ float c[256];
    A += (size_t)blockIdx.z * M * K;
    B += (size_t)blockIdx.z * K * N;
    C += (size_t)blockIdx.z * M * N;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
    wmma::fill_fragment(f, 0.f);
    int r0 = blockIdx.x * 16, c0 = blockIdx.y * 16;
    for (int k0 = 0; k0 < K; k0 += 16) {
        for (int e = threadIdx.x; e < 256; e += 32) {
            int i = e / 16, j = e % 16;
            float a = r0 + i < M && k0 + j < K ? A[(size_t)(r0 + i) * K + k0 + j] : 0;
            float b = k0 + i < K && c0 + j < N
                          ? (t ? B[(size_t)(c0 + j) * K + k0 + i] : B[(size_t)(k0 + i) * N + c0 + j])
                          : 0;
            ah[e] = __float2half(a);
            al[e] = __float2half(a - __half2float(ah[e]));
            bh[e] = __float2half(b);
            bl[e] = __float2half(b - __half2float(bh[e]));
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a, a2;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b, b2;
        wmma::load_matrix_sync(a, ah, 16);
        wmma::load_matrix_sync(a2, al, 16);
        wmma::load_matrix_sync(b, bh, 16);
        wmma::load_matrix_sync(b2, bl, 16);
        wmma::mma_sync(f, a2, b, f);
        wmma::mma_sync(f, a, b2, f);
        wmma::mma_sync(f, a, b, f);
        __syncwarp();
    }
    wmma::store_matrix_sync(c, f, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x; e < 256; e += 32) {
        int i = r0 + e / 16, j = c0 + e % 16;
        if (i < M && j < N) C[(size_t)i * N + j] = c[e] + (bias ? bias[j] : 0);
    }
}
static void run(const float* A, const float* B, const float* bias, float* C, int Z, int M, int N, int K, int t) {
    k<<<dim3((M + 15) / 16, (N + 15) / 16, Z), 32>>>(A, B, bias, C, M, N, K, t);
}
extern "C" void solve(const float* A, const float* B, const float* bias, float* C, int batch, int in_features,
                      int out_features) {
    run(A, B, bias, C, 1, batch, out_features, in_features, 1);
}
