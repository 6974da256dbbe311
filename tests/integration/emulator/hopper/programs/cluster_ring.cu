// The blocks of a cluster stand in a ring: each writes numbers to the shared memory of the next one, round after round.
// They take turns by the cluster's barrier, by mbarriers (BY_MBARRIER) or by flags (BY_FLAG).
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace cg = cooperative_groups;

constexpr int threads = 64, blocks = 4, rounds = 5;

#if defined(BY_MBARRIER) || defined(BY_FLAG)
__device__ uint32_t shared_address(const void *at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

__device__ uint32_t address_in(uint32_t address, unsigned rank) {
    uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}
#endif

// Tells a neighbor that something is done for the n-th time, and waits for as much.
#ifdef BY_MBARRIER
__device__ void begin(uint64_t *signal) { asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(signal))); }

__device__ void tell(uint64_t *signal, unsigned rank, int) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address_in(shared_address(signal), rank))
                 : "memory");
}

__device__ void wait(uint64_t *signal, int n) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra AGAIN;\n}" ::"r"(shared_address(signal)),
        "r"((n - 1) % 2)
        : "memory");
}
#elif defined(BY_FLAG)
__device__ void begin(uint64_t *signal) { *signal = 0; }

__device__ void tell(uint64_t *signal, unsigned rank, int n) {
    asm volatile("st.release.cluster.shared::cluster.u64 [%0], %1;" ::"r"(address_in(shared_address(signal), rank)),
                 "l"(static_cast<uint64_t>(n))
                 : "memory");
}

__device__ void wait(uint64_t *signal, int n) {
    uint64_t seen;
    do {
        asm volatile("ld.acquire.cluster.shared::cta.u64 %0, [%1];" : "=l"(seen) : "r"(shared_address(signal)) : "memory");
    } while (seen < n);
}
#endif

__global__ void __cluster_dims__(blocks) pass_on(int *out) {
    __shared__ int slot[threads];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank(), next = (rank + 1) % blocks;
    int *of_next = cluster.map_shared_rank(slot, next), number = 1000 * rank + threadIdx.x;
#if defined(BY_MBARRIER) || defined(BY_FLAG)
    __shared__ uint64_t filled, emptied;
    unsigned last = (rank + blocks - 1) % blocks;
    if (threadIdx.x == 0) begin(&filled), begin(&emptied);
#endif
    cluster.sync();
    for (int round = 1; round <= rounds; ++round) {
        of_next[threadIdx.x] = number;  // to the next block
#if defined(BY_MBARRIER) || defined(BY_FLAG)
        __syncthreads();
#ifndef NOT_TOLD
        if (threadIdx.x == 0) tell(&filled, next, round);
        if (threadIdx.x == 0) wait(&filled, round);
#else
        if (threadIdx.x == 0) {
            for (long long begin = clock64(); clock64() - begin < 100000;) {}
        }
#endif
        __syncthreads();
#elif !defined(NOT_FILLED)
        cluster.sync();
#endif
        number = slot[threadIdx.x] + 1;  // from the last block
#if defined(BY_MBARRIER) || defined(BY_FLAG)
        __syncthreads();
        if (threadIdx.x == 0) tell(&emptied, last, round);
        if (threadIdx.x == 0) wait(&emptied, round);
        __syncthreads();
#elif !defined(NOT_EMPTIED)
        cluster.sync();
#endif
    }
    cluster.sync();  // nobody leaves while it is written to
    out[blockIdx.x * threads + threadIdx.x] = number;
}

int main() {
    constexpr int clusters = 3, count = clusters * blocks * threads;
    int *out, host[count], wrong = 0;
    cudaMalloc(&out, sizeof host);
    pass_on<<<clusters * blocks, threads>>>(out);
    cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    if (error) std::printf("%s\n", cudaGetErrorName(error));
    for (int i = 0; i < count; ++i) {
        int first = (i / threads + blocks - rounds % blocks) % blocks;  // whose number it was
        wrong += host[i] != 1000 * first + i % threads + rounds;
    }
    cudaFree(out);
    std::puts(wrong ? "FAIL" : "PASS");
}
