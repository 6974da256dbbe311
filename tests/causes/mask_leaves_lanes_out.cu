// challenge: dot-product
// verdict: WA
// told: lane 16 executes it with the mask 0x0000ffff, which does not name it
#include <cuda_runtime.h>

__global__ void dot(const float* A, const float* B, float* result, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < N ? A[i] * B[i] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0x0000ffff, sum, distance);
    if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    cudaMemset(result, 0, sizeof(float));
    dot<<<(N + 255) / 256, 256>>>(A, B, result, N);
}
