// challenge: reduction
// verdict: WA
// told: race on global memory at kernel.cu:29
// mode: SUBMIT
#include <cuda_runtime.h>

__device__ unsigned done;
__device__ float parts[64];

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float shared[256];
    __shared__ bool is_last;
    float part = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < N; i += gridDim.x * 256) part += input[i];
    shared[threadIdx.x] = part;
    __syncthreads();
    for (int distance = 128; distance > 0; distance /= 2) {
        if (threadIdx.x < distance) shared[threadIdx.x] += shared[threadIdx.x + distance];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = shared[0];
        // __threadfence() is missing: the count may be seen before the part.
        is_last = atomicInc(&done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    float total = 0;
    for (int block = 0; block < gridDim.x; block++) total += parts[block];
    *output = total;
}

extern "C" void solve(const float* input, float* output, int N) { sum<<<64, 256>>>(input, output, N); }
