// solve of another challenge.
#include <cuda_runtime.h>

extern "C" void solve(const float* input, float* output, int N) {
    cudaMemcpy(output, input, N, cudaMemcpyDeviceToDevice);
}
