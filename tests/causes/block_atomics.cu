// challenge: histogram
// verdict: WA
// told: one of the two is atomic for threads of its own block only
#include <cuda_runtime.h>

__global__ void count(const int* input, int* histogram, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) atomicAdd_block(histogram + input[i], 1);
}

extern "C" void solve(const int* input, int* histogram, int N, int num_bins) {
    count<<<(N + 255) / 256, 256>>>(input, histogram, N);
    cudaDeviceSynchronize();
}
