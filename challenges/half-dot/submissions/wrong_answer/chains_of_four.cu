// Adds four products up in half precision, and these sums in single precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float total;

__global__ void clear() { total = 0; }

__global__ void dot(const half *a, const half *b, int n) {
    float sum = 0;
    for (int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += 4 * gridDim.x * blockDim.x) {
        half four = __float2half(0);
        for (int j = i; j < n && j < i + 4; ++j) four = __hfma(a[j], b[j], four);
        sum += __half2float(four);
    }
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
}

__global__ void store(half *result) { *result = __float2half(total); }

extern "C" void solve(const half *A, const half *B, half *result, int N) {
    clear<<<1, 1>>>();
    dot<<<64, 256>>>(A, B, N);
    store<<<1, 1>>>(result);
}
