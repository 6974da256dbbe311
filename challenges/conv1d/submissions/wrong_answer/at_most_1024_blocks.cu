// expect: case=input-size-1050011-kernel-size-3
// There are at most 1024 blocks of 256 outputs, and none makes more.
#include <cuda_runtime.h>

__constant__ float w[2047];
__global__ void k(const float* in, float* out, int n, int K) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float s = 0;
    for (int j = 0; j < K; j++) s += in[i + j] * w[j];
    out[i] = s;
}
extern "C" void solve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    cudaMemcpyToSymbol(w, kernel, kernel_size * 4, 0, cudaMemcpyDeviceToDevice);
    int n = input_size - kernel_size + 1;
    k<<<min((n + 255) / 256, 1024), 256>>>(input, output, n, kernel_size);
}
