// Sorts a copy of the input with a bitonic network, in descending order, and copies the first k numbers. In this form of
// the network the first step of each merge compares mirrored positions, so that every comparison puts the larger number
// first and places beyond the end need not exist: they would hold minus infinity and would never move.
#include <cuda_runtime.h>

__global__ void compare_exchange(float* data, int n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned partner = i ^ mask;
    if (partner > i && partner < n && data[i] < data[partner]) {
        float smaller = data[i];
        data[i] = data[partner];
        data[partner] = smaller;
    }
}

extern "C" void solve(const float* input, float* output, int N, int k) {
    float* sorted;
    cudaMalloc(&sorted, sizeof(float) * N);
    cudaMemcpy(sorted, input, sizeof(float) * N, cudaMemcpyDeviceToDevice);
    unsigned blocks = (N + 255u) / 256u;
    for (unsigned size = 2; size / 2 < (unsigned)N; size *= 2) {
        compare_exchange<<<blocks, 256>>>(sorted, N, size - 1);
        for (unsigned step = size / 4; step > 0; step /= 2) compare_exchange<<<blocks, 256>>>(sorted, N, step);
    }
    cudaMemcpy(output, sorted, sizeof(float) * k, cudaMemcpyDeviceToDevice);
    cudaFree(sorted);
}
