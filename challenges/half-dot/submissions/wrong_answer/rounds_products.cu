// Rounds each product to half precision, and adds them up in single precision.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ float total;

__global__ void clear() { total = 0; }

__global__ void dot(const half *a, const half *b, int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += __half2float(__hmul(a[i], b[i]));
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
