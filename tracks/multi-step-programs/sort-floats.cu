// A bitonic network in global memory, one launch a step. The first step of each merge compares mirrored positions, so
// that every comparison puts the smaller number first and places beyond the end need not exist: they would hold plus
// infinity and would never move.
#include <cuda_runtime.h>

__global__ void compare_exchange(float* data, int n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned partner = i ^ mask;
    if (partner > i && partner < n && data[i] > data[partner]) {
        float larger = data[i];
        data[i] = data[partner];
        data[partner] = larger;
    }
}

extern "C" void solve(float* data, int N) {
    unsigned blocks = (N + 255u) / 256u;
    for (unsigned size = 2; size / 2 < (unsigned)N; size *= 2) {
        compare_exchange<<<blocks, 256>>>(data, N, size - 1);
        for (unsigned step = size / 4; step > 0; step /= 2) compare_exchange<<<blocks, 256>>>(data, N, step);
    }
}
