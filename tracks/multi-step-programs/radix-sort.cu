// A bitonic network on the output, one launch a step. The first step of each merge compares mirrored positions, so that
// every comparison puts the smaller key first and places beyond the end need not exist: they would hold the largest key
// and would never move.
#include <cuda_runtime.h>

__global__ void compare_exchange(unsigned* keys, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned partner = i ^ mask;
    if (partner > i && partner < n && keys[i] > keys[partner]) {
        unsigned larger = keys[i];
        keys[i] = keys[partner];
        keys[partner] = larger;
    }
}

extern "C" void solve(const unsigned int* input, unsigned int* output, int N) {
    cudaMemcpy(output, input, sizeof(unsigned) * N, cudaMemcpyDeviceToDevice);
    unsigned blocks = (N + 255u) / 256u;
    for (unsigned size = 2; size / 2 < (unsigned)N; size *= 2) {
        compare_exchange<<<blocks, 256>>>(output, N, size - 1);
        for (unsigned step = size / 4; step > 0; step /= 2) compare_exchange<<<blocks, 256>>>(output, N, step);
    }
}
