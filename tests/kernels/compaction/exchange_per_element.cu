// A counter to a block in shared memory, moved by compare-and-swap: lanes that meet there try again. Then one place in
// the whole for all that the block keeps.
#include <cuda_runtime.h>

__device__ int take(int *counter) {
    int seen = *(volatile int *)counter, expected;
    do {
        expected = seen;
        seen = atomicCAS(counter, expected, expected + 1);
    } while (seen != expected);
    return seen;
}

__global__ void keep(const int *in, int *out, int *count, int n) {
    __shared__ int kept, first;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : 0, place = 0;
    if (value > 0) place = take(&kept);
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(count, kept);
    __syncthreads();
    if (value > 0) out[first + place] = value;
}

extern "C" void solve(const int *in, int *out, int *count, int n) { keep<<<(n + 127) / 128, 128>>>(in, out, count, n); }
