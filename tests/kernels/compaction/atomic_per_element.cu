// A place from the one counter for each element that is kept.
#include <cuda_runtime.h>

__global__ void keep(const int *in, int *out, int *count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int value = in[i];
    if (value > 0) out[atomicAdd(count, 1)] = value;
}

extern "C" void solve(const int *in, int *out, int *count, int n) { keep<<<(n + 255) / 256, 256>>>(in, out, count, n); }
