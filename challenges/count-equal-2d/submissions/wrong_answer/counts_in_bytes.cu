// expect: case=many-equal
// A thread counts in a byte.
#include <cuda_runtime.h>

__global__ void count(const int *in, int *out, int n, int key) {
    unsigned char mine = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) mine += in[i] == key;
    int c = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0 && c) atomicAdd(out, c);
}
extern "C" void solve(const int *input, int *output, int N, int M, int K) {
    count<<<16, 256>>>(input, output, N * M, K);
}
