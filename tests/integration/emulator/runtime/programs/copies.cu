// Asynchronous copies to shared memory that are not waited for, or not by all who read them. Tests look for the marked lines.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda_pipeline.h>

__device__ void begin_copy(int* to, const int* from) {
    __pipeline_memcpy_async(to, from, 4);
    __pipeline_commit();
}

#define KERNEL(name)                                                           \
    __global__ void name(int*, int*);                                          \
    extern "C" void run_##name(int* from, int* to) { name<<<1, 128>>>(from, to); } \
    __global__ void name(int* from, int* to)

KERNEL(no_wait) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __syncthreads();
    to[t] = tile[127 - t];  // no_wait
}

KERNEL(own_read) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    to[t] = tile[t];  // own_read
}

KERNEL(no_barrier) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __pipeline_wait_prior(0);
    to[t] = tile[127 - t];  // no_barrier
}

KERNEL(barrier_before_wait) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __syncthreads();
    __pipeline_wait_prior(0);
    to[t] = tile[127 - t];  // barrier_before_wait
}

KERNEL(newest_group) {
    __shared__ int tile[2][128];
    int t = threadIdx.x;
    begin_copy(tile[0] + t, from + t);
    begin_copy(tile[1] + t, from + 128 + t);
    __pipeline_wait_prior(1);
    __syncthreads();
    to[t] = tile[0][127 - t];
    to[t] += tile[1][127 - t];  // newest_group
}

KERNEL(written_over) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    tile[t] = 1;  // written_over
    __pipeline_wait_prior(0);
    to[t] = tile[t];
}

KERNEL(source_written) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __syncthreads();
    from[127 - t] = -1;  // source_written
    __pipeline_wait_prior(0);
    to[t] = tile[t];
}

KERNEL(no_wait_for_barrier) {
    __shared__ int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    int t = threadIdx.x;
    if (t == 0) init(&arrived, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(tile + t, from + t, cuda::aligned_size_t<4>(4), arrived);
    __syncthreads();
    to[t] = tile[127 - t];  // no_wait_for_barrier
}

KERNEL(right_stages) {
    __shared__ int tile[2][128];
    int t = threadIdx.x, sum = 0;
    begin_copy(tile[0] + t, from + t);
    for (int round = 0; round < 4; ++round) {
        if (round < 3) begin_copy(tile[(round + 1) % 2] + t, from + t);
        if (round < 3) __pipeline_wait_prior(1);
        else __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[round % 2][127 - t];
        __syncthreads();
    }
    to[t] = sum;
}

KERNEL(right_own_read) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __pipeline_wait_prior(0);
    to[t] = tile[t];
    from[t] = 1;
}

KERNEL(right_warp) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    begin_copy(tile + t, from + t);
    __pipeline_wait_prior(0);
    __syncwarp();
    to[t] = tile[t ^ 1];
}

KERNEL(right_group) {
    __shared__ int tile[128];
    auto block = cooperative_groups::this_thread_block();
    cooperative_groups::memcpy_async(block, tile, from, sizeof tile);
    cooperative_groups::wait(block);
    to[threadIdx.x] = tile[127 - threadIdx.x];
}

KERNEL(right_barrier) {
    __shared__ int tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    int t = threadIdx.x;
    if (t == 0) init(&arrived, blockDim.x);
    __syncthreads();
    for (int round = 0; round < 2; ++round) {
        cuda::memcpy_async(tile + t, from + 128 * round + t, cuda::aligned_size_t<4>(4), arrived);
        arrived.arrive_and_wait();
        to[t] = tile[127 - t];
        __syncthreads();
    }
}
