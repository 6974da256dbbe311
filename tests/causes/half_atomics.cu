// challenge: half-dot
// verdict: WA
// mode: SUBMIT
// told: sums are rounded to half precision (line 18)
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void dot(const half* A, const half* B, half* result, int N) {
    __shared__ float parts[8];
    float sum = 0.0f;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) sum += __half2float(A[i]) * __half2float(B[i]);
    for (int distance = 16; distance; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int w = 1; w < 8; ++w) sum += parts[w];
    // Each block's sum is added in half precision.
    atomicAdd(result, __float2half(sum));
}

extern "C" void solve(const half* A, const half* B, half* result, int N) {
    dot<<<8, 256>>>(A, B, result, N);
    cudaDeviceSynchronize();
}
