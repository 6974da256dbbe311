// expect: case=m-2203-d-model-34-d-ffn-35 cuda=WA,AC
// A block goes through several tokens without a barrier between them: a warp that is ahead overwrites products
// that others still read.
#include <cuda_runtime.h>

__global__ void k(const float* x, const float* G, const float* U, const float* D, float* O, int M, int d, int f) {
    __shared__ float h[1024];
    for (int m = blockIdx.x; m < M; m += gridDim.x)
        for (int f0 = 0; f0 < f; f0 += 1024) {
            if (f0) __syncthreads();
            for (int j = threadIdx.x; j < min(1024, f - f0); j += 128) {
                float g = 0, u = 0;
                for (int i = 0; i < d; i++) {
                    float a = x[(size_t)m * d + i];
                    g += a * G[(size_t)i * f + f0 + j];
                    u += a * U[(size_t)i * f + f0 + j];
                }
                h[j] = g / (1 + __expf(-g)) * u;
            }
            __syncthreads();
            for (int c = threadIdx.x; c < d; c += 128) {
                float s = f0 ? O[(size_t)m * d + c] : 0;
                for (int j = 0; j < min(1024, f - f0); j++) s += h[j] * D[(size_t)(f0 + j) * d + c];
                O[(size_t)m * d + c] = s;
            }
        }
}
extern "C" void solve(const float* x, const float* G, const float* U, const float* D, float* o, int M, int d, int f) {
    k<<<min(M, 1056), 128>>>(x, G, U, D, o, M, d, f);
}
