// expect: case=input-size-1050011-kernel-size-3 cuda=WA,AC
// A block goes through several tiles without a barrier between them: a warp that is ahead overwrites inputs
// that others still read.
#include <cuda_runtime.h>

__global__ void k(const float* in, const float* w, float* out, int n, int K) {
    __shared__ float s[128 + 2046];
    for (int t = blockIdx.x; t * 128 < n; t += gridDim.x) {
        for (int i = threadIdx.x; i < 128 + K - 1; i += 128) s[i] = t * 128 + i < n + K - 1 ? in[t * 128 + i] : 0;
        __syncthreads();
        float a = 0;
        for (int j = 0; j < K; j++) a += s[threadIdx.x + j] * w[j];
        int o = t * 128 + threadIdx.x;
        if (o < n) out[o] = a;
    }
}
extern "C" void solve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    int n = input_size - kernel_size + 1;
    k<<<min((n + 127) / 128, 528), 128>>>(input, kernel, output, n, kernel_size);
}
