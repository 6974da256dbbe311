// challenge: fp8-block-gemm
// verdict: WA
// headline: imprecise
// told: the allowed one; a float is rounded to half precision, and computed with (line 19); C[
// mode: SUBMIT
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void g(const __nv_fp8_e4m3 *A, const float *sa, const __nv_fp8_e4m3 *B, const float *sb, half *C, int M,
                  int N, int K) {
    int n = blockIdx.x * 32 + threadIdx.x % 32, m = blockIdx.y * 4 + threadIdx.x / 32;
    if (n >= N || m >= M) return;
    int nb = (K + 127) / 128;
    half total = __float2half(0.f);
    for (int b = 0; b < nb; b++) {
        float s = 0;
        for (int k = b * 128; k < min(K, b * 128 + 128); k++)
            s += float(A[(size_t)m * K + k]) * float(B[(size_t)n * K + k]);
        total = __float2half(__half2float(total) + s * sa[m * nb + b] * sb[n / 128 * nb + b]);
    }
    C[(size_t)m * N + n] = total;
}
extern "C" void solve(const __nv_fp8_e4m3 *A, const float *A_scales, const __nv_fp8_e4m3 *B, const float *B_scales,
                      half *C, int M, int N, int K) {
    g<<<dim3((N + 31) / 32, (M + 3) / 4), 128>>>(A, A_scales, B, B_scales, C, M, N, K);
}
