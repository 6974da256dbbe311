// challenge: dot-product
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
        float step32 = at[thread + 32];
        __syncwarp();
        at[thread] += step32;
        __syncwarp();
        float step16 = at[thread + 16];
        __syncwarp();
        at[thread] += step16;
        __syncwarp();
        float step8 = at[thread + 8];
        __syncwarp();
        at[thread] += step8;
        __syncwarp();
        float step4 = at[thread + 4];
        __syncwarp();
        at[thread] += step4;
        __syncwarp();
        float step2 = at[thread + 2];
        __syncwarp();
        at[thread] += step2;
        __syncwarp();
        float step1 = at[thread + 1];
        __syncwarp();
        at[thread] += step1;
        __syncwarp();
    }
    if (thread == 0) atomicAdd(result, sums[0]);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    cudaMemset(result, 0, sizeof(float));
    dot<<<8, 256>>>(A, B, result, N);
    cudaDeviceSynchronize();
}
