// Blocks add what they have to the result, in half precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__global__ void k(const half *A, const half *B, half *r, int n) {
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        s += __half2float(A[i]) * __half2float(B[i]);
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    __shared__ float p[8];
    if (threadIdx.x % 32 == 0) p[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 8; i++) s += p[i];
        atomicAdd(r, __float2half(s));
    }
}
extern "C" void solve(const half *A, const half *B, half *result, int N) { k<<<8, 256>>>(A, B, result, N); }
