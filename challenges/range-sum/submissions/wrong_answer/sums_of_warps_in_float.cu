// expect: case=large-terms
// Threads and warps sum in single precision, which is exact only up to 2^24.
#include <cuda_runtime.h>

__global__ void k(const int* in, int* out, int S, int E) {
    float sum = 0;
    for (int i = S + blockIdx.x * blockDim.x + threadIdx.x; i <= E; i += gridDim.x * blockDim.x) sum += in[i];
    for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) atomicAdd(out, (int)sum);
}
extern "C" void solve(const int* input, int* output, int N, int S, int E) { k<<<512, 256>>>(input, output, S, E); }
