// challenge: reduction
// verdict: WA
// told: stores another value there by the same instruction; only one of them stays
#include <cuda_runtime.h>

__global__ void add(const float* input, float* output, int N) {
    __shared__ float total;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < N; i += blockDim.x) sum += input[i];
    total = sum;
    __syncwarp();
    if (threadIdx.x == 0) output[0] = total;
}

extern "C" void solve(const float* input, float* output, int N) {
    add<<<1, 32>>>(input, output, N);
    cudaDeviceSynchronize();
}
