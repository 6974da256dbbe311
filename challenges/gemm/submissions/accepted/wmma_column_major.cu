// B is transposed on its way into shared memory, for column-major fragments of 32 x 8 x 16; two warps a block.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda::wmma;

__global__ void k(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    __shared__ __align__(32) half Bt[2][8][24];
    __shared__ __align__(32) float out[2][32][8];
    __shared__ __align__(32) half As[32][16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int r0 = blockIdx.y * 32, c0 = blockIdx.x * 16 + warp * 8;
    fragment<matrix_a, 32, 8, 16, half, row_major> a;
    fragment<matrix_b, 32, 8, 16, half, col_major> b;
    fragment<accumulator, 32, 8, 16, float> acc;
    fill_fragment(acc, 0.f);
    for (int k = 0; k < K; k += 16) {
        __syncthreads();
        for (int i = threadIdx.x; i < 512; i += 64)
            As[i / 16][i % 16] = r0 + i / 16 < M ? A[(r0 + i / 16) * K + k + i % 16] : half(0);
        for (int i = lane; i < 128; i += 32) {
            int kk = i / 8, n = i % 8;
            Bt[warp][n][kk] = B[(k + kk) * N + c0 + n];
        }
        __syncthreads();
        load_matrix_sync(a, &As[0][0], 16);
        load_matrix_sync(b, &Bt[warp][0][0], 24);
        mma_sync(acc, a, b, acc);
    }
    for (int i = 0; i < acc.num_elements; i++) acc.x[i] *= alpha;
    store_matrix_sync(&out[warp][0][0], acc, 8, mem_row_major);
    __syncwarp();
    int r = r0 + lane;
    if (r < M)
        for (int n = 0; n < 8; n++) {
            half& c = C[r * N + c0 + n];
            c = __float2half(out[warp][lane][n] + beta * __half2float(c));
        }
}
extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    k<<<dim3(N / 16, (M + 31) / 32), 64>>>(A, B, C, M, N, K, alpha, beta);
}
