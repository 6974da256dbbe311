// expect: case=many-equal
// Each block counts in 16 bits.
#include <cuda_runtime.h>

__global__ void count(const int* input, int* output, int n, int key) {
    __shared__ unsigned short of_warp[8];
    int mine = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) mine += input[i] == key;
    mine = __reduce_add_sync(0xffffffffu, mine);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x > 0) return;
    unsigned short of_block = 0;
    for (int warp = 0; warp < 8; warp++) of_block += of_warp[warp];
    atomicAdd(output, of_block);
}

extern "C" void solve(const int* input, int* output, int N, int K) { count<<<8, 256>>>(input, output, N, K); }
