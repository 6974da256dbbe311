// A tree by halves: no divergence before the last warp, no conflicts. Two elements to a thread.
#include <cuda_runtime.h>

__global__ void sum(const float *in, float *out, int n) {
    __shared__ float part[256];
    int t = threadIdx.x;
    int i = blockIdx.x * 512 + t;
    part[t] = (i < n ? in[i] : 0.0f) + (i + 256 < n ? in[i + 256] : 0.0f);
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}

extern "C" void solve(const float *in, float *out, int n) { sum<<<(n + 511) / 512, 256>>>(in, out, n); }
