// expect: case=many-equal
// A block counts in 16 bits.
#include <cuda_runtime.h>

__global__ void count(const int *in, int *out, int n, int key) {
    __shared__ unsigned short parts[8];
    int c = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) c += in[i] == key;
    c = __reduce_add_sync(~0u, c);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = (unsigned short)c;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned short s = 0;
        for (int i = 0; i < 8; i++) s += parts[i];
        atomicAdd(out, s);
    }
}
extern "C" void solve(const int *input, int *output, int N, int M, int K, int P) {
    count<<<4, 256>>>(input, output, N * M * K, P);
}
