// cp.async and mbarriers through every interface that CUDA C++ has for them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;

// Each thread's own copy: what it sees before and after the wait. Odd threads ask for half of it.
__global__ void before_and_after(const int* in, int* before, int* after) {
    __shared__ __align__(16) int tile[128];
    int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) tile[4 * t + i] = -1;
    __pipeline_memcpy_async(&tile[4 * t], &in[4 * t], 16, t % 2 ? 8 : 0);
    __pipeline_commit();
    for (int i = 0; i < 4; ++i) before[4 * t + i] = tile[4 * t + i];
    __pipeline_wait_prior(0);
    for (int i = 0; i < 4; ++i) after[4 * t + i] = tile[4 * t + i];
}

// Three groups, of which wait_prior(2), (1), (0) land one after another.
__global__ void groups(const int* in, int* out) {
    __shared__ int tile[3][32];
    int t = threadIdx.x;
    for (int g = 0; g < 3; ++g) tile[g][t] = -1;
    for (int g = 0; g < 3; ++g) {
        __pipeline_memcpy_async(&tile[g][t], &in[32 * g + t], 4);
        __pipeline_commit();
    }
    for (int step = 0; step < 3; ++step) {
        if (step == 0) __pipeline_wait_prior(2);
        if (step == 1) __pipeline_wait_prior(1);
        if (step == 2) __pipeline_wait_prior(0);
        for (int g = 0; g < 3; ++g) out[(step * 3 + g) * 32 + t] = tile[g][t];
    }
}

__global__ void rounds(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int cells[128];
    int t = threadIdx.x;
    if (t == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 3; ++round) {
        cells[t] = t + round;
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        out[round * 128 + t] = cells[(t + 33) % 128];
        barrier.arrive_and_wait();
    }
}

// Warps leave one after another; the barrier then waits for the others only.
__global__ void leaving(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int count;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        count = 0;
    }
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        if (round == warp) {
            barrier.arrive_and_drop();
            return;
        }
        atomicAdd(&count, 1);
        barrier.arrive_and_wait();
        if (threadIdx.x == 96) out[round] = count;
        barrier.arrive_and_wait();
    }
}

__global__ void staged(const int* in, int* out, int tiles) {
    __shared__ int stage[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int done = 0, fetched = 0; done < tiles; ++done) {
        for (; fetched < tiles && fetched < done + 2; ++fetched) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, stage[fetched % 2], in + fetched * 128, cuda::aligned_size_t<16>(512), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        out[done * 128 + threadIdx.x] = 2 * stage[done % 2][127 - threadIdx.x];
        pipeline.consumer_release();
    }
}

// One warp copies, the others compute.
__global__ void specialised(const int* in, int* out, int tiles) {
    __shared__ int stage[2][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    bool produces = threadIdx.x < 32;
    auto pipeline = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int tile = 0; tile < tiles; ++tile) {
        if (produces) {
            pipeline.producer_acquire();
            for (int i = threadIdx.x; i < 96; i += 32) {
                cuda::memcpy_async(&stage[tile % 2][i], in + tile * 96 + i, sizeof(int), pipeline);
            }
            pipeline.producer_commit();
        } else {
            pipeline.consumer_wait();
            out[tile * 96 + threadIdx.x - 32] = 3 * stage[tile % 2][127 - threadIdx.x];
            pipeline.consumer_release();
        }
    }
}

__global__ void by_barrier(const int* in, int* out) {
    __shared__ int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    auto block = cg::this_thread_block();
    tile[threadIdx.x] = -1;
    if (block.thread_rank() == 0) init(&barrier, block.size());
    block.sync();
    cuda::memcpy_async(block, tile, in, cuda::aligned_size_t<16>(512), barrier);
    block.sync();
    out[128 + threadIdx.x] = tile[127 - threadIdx.x];  // too early
    barrier.arrive_and_wait();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void by_group(const int* in, int* out) {
    __shared__ int tile[128];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, tile, in, 512);
    cg::wait(block);
    out[threadIdx.x] = tile[127 - threadIdx.x];
}

extern "C" {
void run_before_and_after(const int* in, int* before, int* after) { before_and_after<<<1, 32>>>(in, before, after); }
void run_groups(const int* in, int* out) { groups<<<1, 32>>>(in, out); }
void run_rounds(int* out) { rounds<<<1, 128>>>(out); }
void run_leaving(int* out) { leaving<<<1, 128>>>(out); }
void run_staged(const int* in, int* out, int tiles) { staged<<<1, 128>>>(in, out, tiles); }
void run_specialised(const int* in, int* out, int tiles) { specialised<<<1, 128>>>(in, out, tiles); }
void run_by_barrier(const int* in, int* out) { by_barrier<<<1, 128>>>(in, out); }
void run_by_group(const int* in, int* out) { by_group<<<1, 128>>>(in, out); }
}
