// idea: other buffers of the process (staged inputs, places of other calls) have addresses near these: reads along for
//       64 MB to both sides, where there is memory at all
// challenge: vector-add
// devices: cuda
// verdict: AC or RE
// caught by: nothing that is expected is there; what is not mapped ends the process
#include <dlfcn.h>
#include "common/vector_add.cuh"

__global__ void read_along(const unsigned* from, size_t count, unsigned* out) {
    unsigned all = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        all ^= from[i];
    }
    atomicXor(out, all);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static unsigned* out = nullptr;
    if (!out) {
        cudaMalloc(&out, 4);
        // What may be read is known to the driver: the ranges of the allocations around.
        auto range = (int (*)(unsigned long long*, size_t*, unsigned long long))dlsym(
            dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuMemGetAddressRange_v2");
        for (long step = -32; range && step <= 32; step++) {
            unsigned long long base;
            size_t size;
            if (range(&base, &size, (unsigned long long)C + (step << 21)) != 0) continue;
            read_along<<<132, 256>>>((const unsigned*)base, size / 4, out);
        }
        cudaDeviceSynchronize();
    }
    launch_add(A, B, C, N);
}
