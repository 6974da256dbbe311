// Waits for an mbarrier that nobody completes, or that completes late, and gives up in several ways.
#include <cstdio>
#include <cuda_runtime.h>

__device__ volatile int flag;

__device__ bool is_complete(unsigned long long* barrier, unsigned parity) {
    unsigned complete;
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(complete) : "r"(address), "r"(parity));
    return complete;
}

__device__ void arrive(unsigned long long* barrier) {
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
}

__global__ void wait(int* out, int rounds) {
    __shared__ unsigned long long barriers[2];
    if (threadIdx.x < 2) {
        unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barriers[threadIdx.x]));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address) : "memory");
    }
    __syncthreads();
    int result = 0;
#ifdef CLOCK
    long long begin = clock64();
    while (!is_complete(&barriers[0], 0) && clock64() - begin < 2000000) {}
#elif defined(ANOTHER_BLOCK)
    if (blockIdx.x) {
        if (threadIdx.x) return;
        unsigned value = 1;
        for (int i = 0; i < 50 * rounds; ++i) value = value * 1664525 + 1013904223;
        out[1 + threadIdx.x] = value;
        flag = 1;
        return;
    }
    while (!is_complete(&barriers[0], 0) && !flag) {}
#elif defined(LATE)
    // One warp works for long, without a barrier and without memory; the others wait for it in a loop that never gives up.
    if (threadIdx.x / 32 == 1) {
        unsigned value = threadIdx.x;
        for (int i = 0; i < 50 * rounds; ++i) value = value * 1664525 + 1013904223;
        if (threadIdx.x == 32) arrive(&barriers[0]);
        result = value == 7;
    } else {
        while (!is_complete(&barriers[0], 0)) {}
    }
#elif defined(LANES)
    // Lanes of one warp: some wait for ever, until one that counts has done so.
    if (threadIdx.x == 5) {
        int left = rounds;
        while (left && !is_complete(&barriers[1], 0)) --left;
        arrive(&barriers[0]);
    } else {
        while (!is_complete(&barriers[0], 0)) {}
    }
#elif defined(ENDLESS)
    if (threadIdx.x == 0) while (!is_complete(&barriers[0], 0)) {}
    __syncthreads();
#elif defined(COUNTS_FOR_EVER)
    while (!is_complete(&barriers[0], 0)) ++result;
#elif defined(NESTED)
    for (int i = 0; i < rounds; ++i) {
        int left = 3;
        while (left && !is_complete(&barriers[i % 2], 0)) --left;
    }
#else
    int left = rounds;
    while (left && !is_complete(&barriers[0], 0)) --left;
#endif
    out[0] = result;
}

int main() {
    int* out;
    cudaMalloc(&out, 4096);
#ifdef ANOTHER_BLOCK
    wait<<<2, 64>>>(out, 100000);
#else
    wait<<<1, 64>>>(out, 100000);
#endif
    cudaError_t error = cudaDeviceSynchronize();
    puts(error ? cudaGetErrorName(error) : "PASS");
    if (!error) cudaFree(out);
    return 0;
}
