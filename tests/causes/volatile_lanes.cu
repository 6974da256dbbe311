// challenge: dot-product
// verdict: WA
// mode: SUBMIT
// told: there is no __syncwarp() between them: volatile does not order the lanes of a warp
#include <cuda_runtime.h>

__global__ void dot(const float* A, const float* B, float* result, int N) {
    __shared__ float sums[256];
    int thread = threadIdx.x;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + thread; i < N; i += gridDim.x * 256) sum += A[i] * B[i];
    sums[thread] = sum;
    __syncthreads();
    for (int half = 128; half > 32; half /= 2) {
        if (thread < half) sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if (thread < 32) {
        volatile float* at = sums;
        at[thread] += at[thread + 32];
        at[thread] += at[thread + 16];
        at[thread] += at[thread + 8];
        at[thread] += at[thread + 4];
        at[thread] += at[thread + 2];
        at[thread] += at[thread + 1];
    }
    if (thread == 0) atomicAdd(result, sums[0]);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    cudaMemset(result, 0, sizeof(float));
    dot<<<8, 256>>>(A, B, result, N);
    cudaDeviceSynchronize();
}
