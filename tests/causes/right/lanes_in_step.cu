// challenge: dot-product
#include <cuda_runtime.h>

__global__ void dot(const float* A, const float* B, float* result, int N) {
    __shared__ float sums[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += A[i] * B[i];
    sums[warp][lane] = sum;
    __syncwarp();
    for (int distance = 16; distance; distance /= 2) {
        sum += sums[warp][(lane + distance) % 32];
        __syncwarp();
        sums[warp][lane] = sum;
        __syncwarp();
    }
    if (lane == 0) atomicAdd(result, sum);
}

extern "C" void solve(const float* A, const float* B, float* result, int N) {
    cudaMemset(result, 0, sizeof(float));
    dot<<<8, 256>>>(A, B, result, N);
    cudaDeviceSynchronize();
}
