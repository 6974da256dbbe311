// Every thread adds its number to the one result.
#include <cuda_runtime.h>

__global__ void sum(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(out, in[i]);
}

extern "C" void solve(const float *in, float *out, int n) { sum<<<(n + 255) / 256, 256>>>(in, out, n); }
