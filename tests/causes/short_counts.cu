// challenge: count-equal-3d
// verdict: WA
// mode: SUBMIT
// told: of 16 bits or fewer wrap around
#include <cuda_runtime.h>

__global__ void count(const int* input, int* output, int size, int wanted) {
    unsigned short found = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < size; i += gridDim.x * 256)
        found += __popc(__ballot_sync(__activemask(), input[i] == wanted));
    // The lanes of a warp count the same.
    __shared__ unsigned short all[8];
    if (threadIdx.x % 32 == 0) all[threadIdx.x / 32] = found;
    __syncthreads();
    if (threadIdx.x != 0) return;
    unsigned short sum = 0;
    for (int w = 0; w < 8; ++w) sum += all[w];
    atomicAdd(output, sum);
}

extern "C" void solve(const int* input, int* output, int N, int M, int K, int P) {
    count<<<4, 256>>>(input, output, N * M * K, P);
    cudaDeviceSynchronize();
}
