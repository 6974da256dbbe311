// challenge: sigmoid
// verdict: WA
// told: the allowed one; a float is rounded to half precision (line 11, line 12); Y[
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// Both steps are rounded: one cause, which two lines have.
__global__ void sigmoid(const float* X, float* Y, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float exponential = __half2float(__float2half(expf(-X[i])));
    Y[i] = __half2float(__float2half(1.0f / (1.0f + exponential)));
}

extern "C" void solve(const float* X, float* Y, int N) {
    sigmoid<<<(N + 255) / 256, 256>>>(X, Y, N);
}
