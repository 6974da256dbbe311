// The blocks of a cluster send each other numbers: st.async brings them, red.async adds to them, and an mbarrier beside
// them counts the bytes.
#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>

namespace cg = cooperative_groups;

#ifdef ITSELF
constexpr int blocks = 1;  // to itself, where full checks see what waits for what
#else
constexpr int blocks = 4;
#endif
constexpr int threads = 64;

__device__ uint32_t address_of(const void *shared) { return static_cast<uint32_t>(__cvta_generic_to_shared(shared)); }

__device__ uint32_t at_block(uint32_t address, uint32_t rank) {
    uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ void wait(uint64_t *bar) {
    asm volatile(
        "{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0; @!p bra AGAIN; "
        "}" ::"r"(address_of(bar))
        : "memory");
}

__global__ __cluster_dims__(blocks, 1, 1) void exchange(uint32_t *out, uint64_t *totals) {
    __shared__ alignas(16) uint4 received[threads];
    __shared__ uint64_t total, bar;
    __shared__ uint32_t least;
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), next = (rank + 1) % blocks, i = threadIdx.x;
    if (i == 0) {
        total = 1000, least = 77;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&bar)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#ifdef TOO_FEW_BYTES
        uint32_t bytes = threads * 28 + 8;
#else
        uint32_t bytes = threads * 28;
#endif
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address_of(&bar)), "r"(bytes)
                     : "memory");
    }
    cluster.sync();
    uint32_t to = at_block(address_of(&received[i]), next), its_bar = at_block(address_of(&bar), next);
    uint32_t value = 100 * rank + i;
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
                 "r"(value), "r"(value + 1), "r"(value + 2), "r"(value + 3), "r"(its_bar)
                 : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u64 [%0], %1, [%2];" ::"r"(
                     at_block(address_of(&total), next)),
                 "l"(static_cast<uint64_t>(value)), "r"(its_bar)
                 : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u32 [%0], %1, [%2];" ::"r"(
                     at_block(address_of(&least), next)),
                 "r"(200 - i), "r"(its_bar)
                 : "memory");
#ifdef NO_WAIT
    __syncthreads();  // all has been sent, and nothing awaited
#else
    wait(&bar);
#endif
    uint4 got = received[threads - 1 - i];  // reads
    out[blockIdx.x * threads + i] = got.x + got.y + got.z + got.w;
    if (i == 0) totals[blockIdx.x] = total << 32 | least;
    cluster.sync();
}

int main() {
    uint32_t *out;
    uint64_t *totals;
    cudaMallocManaged(&out, blocks * threads * sizeof *out);
    cudaMallocManaged(&totals, blocks * sizeof *totals);
    exchange<<<blocks, threads>>>(out, totals);
    if (cudaError_t error = cudaDeviceSynchronize()) return std::printf("%s\n", cudaGetErrorName(error)), 1;
    bool right = true;
    for (int block = 0; block < blocks; ++block) {
        uint32_t before = (block + blocks - 1) % blocks;
        uint64_t total = 1000;
        for (uint32_t i = 0; i < threads; ++i) {
            total += 100 * before + i;
            right &= out[block * threads + i] == 4 * (100 * before + threads - 1 - i) + 6;
        }
        right &= totals[block] == (total << 32 | 77);
    }
    std::puts(right ? "PASS" : "FAIL");
    cudaFree(out), cudaFree(totals);
}
