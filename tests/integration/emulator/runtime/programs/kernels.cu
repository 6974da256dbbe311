// Kernels that are right, each launched by a function of the host.
#include <cstdio>

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void block_sum(const float* in, float* out, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int step = 128; step; step >>= 1) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(out, part[0]);
}

__global__ void warp_sum(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = i < n ? in[i] : 0;
    for (int step = 16; step; step >>= 1) value += __shfl_down_sync(~0u, value, step);
    if ((threadIdx.x & 31) == 0) atomicAdd(out, value);
}

__device__ int counters[4];

__global__ void atomics(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&counters[0], 1);
    atomicMax(&counters[1], i);
    atomicMin(&counters[2], -i);
    atomicXor(&counters[3], i);
}

__device__ int lock_;

__global__ void lock_between_blocks(int* total, int rounds) {
    if (threadIdx.x != 0) return;
    for (int k = 0; k < rounds; ++k) {
        while (atomicCAS(&lock_, 0, 1) != 0) {
        }
        __threadfence();
        *(volatile int*)total = *(volatile int*)total + 1;
        __threadfence();
        atomicExch(&lock_, 0);
    }
}

__global__ void lock_within_warp(int* total) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_, 0, 1) == 0) {
            __threadfence();
            *(volatile int*)total = *(volatile int*)total + 1;
            __threadfence();
            atomicExch(&lock_, 0);
            done = true;
        }
    }
}

// Every block waits for all: they have to be resident together.
__global__ void wait_for_all_blocks(int* arrived, int* seen) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile int*)arrived < gridDim.x) {
        }
        seen[blockIdx.x] = *(volatile int*)arrived;
    }
}

// The first warp waits for what the last one writes.
__global__ void wait_for_last_warp(int* out) {
    __shared__ volatile int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) flag = 42;
    if (threadIdx.x == 0) {
        while (flag == 0) {
        }
        *out = flag;
    }
}

__global__ void grid_sync(int* values, int n) {
    cg::grid_group grid = cg::this_grid();
    int i = grid.thread_rank();
    for (int round = 0; round < 5; ++round) {
        int next = values[(i + 1) % n];
        grid.sync();
        values[i] = next + 1;
        grid.sync();
    }
}

__global__ void prints(int x) {
    if (threadIdx.x < 2) printf("thread %d of %s: %5.2f|%-4d|%04x %llu %c%%\n", threadIdx.x, "a block", x * 0.5, x, 171, 1ull << 40, 'z');
}

__global__ void heap_fill(int** out) {
    int* piece = static_cast<int*>(malloc(2 * sizeof(int)));
    piece[1] = threadIdx.x;
    out[threadIdx.x] = piece;
}

__global__ void heap_drain(int** pieces, int* out) {
    out[threadIdx.x] = pieces[threadIdx.x][1];
    free(pieces[threadIdx.x]);
}

extern __shared__ float dynamic[];

__global__ void reverse(float* out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = i;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = dynamic[n - 1 - i];
}

__constant__ int squares[16];

__global__ void read_constant(int* out) { out[threadIdx.x] = squares[threadIdx.x & 15]; }

__global__ void named_barriers(int* out) {
    __shared__ int value;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) value = 5;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = value;
    }
}

__global__ void reducing_barriers(int* out) {
    int count = __syncthreads_count(threadIdx.x < 50);
    int all = __syncthreads_and(threadIdx.x < 1000), none = __syncthreads_and(threadIdx.x < 99);
    int any = __syncthreads_or(threadIdx.x == 77);
    out[threadIdx.x] = count * 1000 + all * 100 + none * 10 + any;
}

__global__ void early_exit(int* out) {
    if (threadIdx.x < 40) return;
    __syncthreads();
    out[threadIdx.x] = __syncthreads_count(1);
}

// Whoever comes last wins: the order of the warps shows.
__global__ void last_warp(int* out) {
    if ((threadIdx.x & 31) == 0) *(volatile int*)out = threadIdx.x / 32;
}

#define API extern "C" int

API run_add(const float* a, const float* b, float* c, int n) {
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    return cudaDeviceSynchronize();
}

API run_block_sum(const float* in, float* out, int n) {
    block_sum<<<(n + 255) / 256, 256>>>(in, out, n);
    return cudaDeviceSynchronize();
}

API run_warp_sum(const float* in, float* out, int n) {
    warp_sum<<<(n + 255) / 256, 256>>>(in, out, n);
    return cudaDeviceSynchronize();
}

API run_atomics(int* host, int n) {
    int zeros[4] = {};
    cudaMemcpyToSymbol(counters, zeros, sizeof zeros);
    atomics<<<(n + 127) / 128, 128>>>(n);
    return cudaMemcpyFromSymbol(host, counters, sizeof counters);
}

API run_lock_between_blocks(int* total, int blocks, int rounds) {
    lock_between_blocks<<<blocks, 64>>>(total, rounds);
    return cudaDeviceSynchronize();
}

API run_lock_within_warp(int* total, int blocks) {
    lock_within_warp<<<blocks, 64>>>(total);
    return cudaDeviceSynchronize();
}

API run_wait_for_all_blocks(int* arrived, int* seen, int blocks) {
    wait_for_all_blocks<<<blocks, 64>>>(arrived, seen);
    return cudaDeviceSynchronize();
}

API run_wait_for_last_warp(int* out) {
    wait_for_last_warp<<<1, 256>>>(out);
    return cudaDeviceSynchronize();
}

API run_grid_sync(int* values, int n) {
    void* arguments[] = {&values, &n};
    cudaError_t error = cudaLaunchCooperativeKernel((void*)grid_sync, n / 128, 128, arguments, 0, 0);
    return error ? error : cudaDeviceSynchronize();
}

API run_prints(int x) {
    prints<<<1, 32>>>(x);
    return cudaDeviceSynchronize();
}

API run_heap(int** pieces, int* out) {
    heap_fill<<<1, 64>>>(pieces);
    heap_drain<<<1, 64>>>(pieces, out);
    return cudaDeviceSynchronize();
}

API run_reverse(float* out, int n) {
    cudaError_t error = cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4);
    if (error) return error;
    reverse<<<1, 128, n * 4>>>(out, n);
    return cudaDeviceSynchronize();
}

API run_read_constant(int* out) {
    int values[16];
    for (int i = 0; i < 16; ++i) values[i] = i * i;
    cudaMemcpyToSymbol(squares, values, sizeof values);
    read_constant<<<1, 32>>>(out);
    return cudaDeviceSynchronize();
}

API run_named_barriers(int* out) {
    named_barriers<<<1, 64>>>(out);
    return cudaDeviceSynchronize();
}

API run_reducing_barriers(int* out) {
    reducing_barriers<<<1, 100>>>(out);
    return cudaDeviceSynchronize();
}

API run_early_exit(int* out) {
    early_exit<<<1, 100>>>(out);
    return cudaDeviceSynchronize();
}

API run_last_warp(int* out) {
    last_warp<<<1, 512>>>(out);
    return cudaDeviceSynchronize();
}

// Calls through pointers: a table, a pointer that the host fetched, virtual functions.
using Step = int (*)(int);
__device__ __noinline__ int doubled(int x) { return 2 * x; }
__device__ __noinline__ int negated(int x) { return -x; }
__device__ __noinline__ int counted_down(int x) {
    int steps = 0;
    for (; x > 0; x -= 3) ++steps;
    return steps;
}
__device__ Step steps[] = {doubled, negated, counted_down};
__device__ Step favourite = negated;

struct Shape {
    __device__ virtual int area(int side) const = 0;
};
struct Square : Shape {
    __device__ int area(int side) const override { return side * side; }
};
struct Strip : Shape {
    int width;
    __device__ explicit Strip(int w) : width(w) {}
    __device__ int area(int side) const override { return side * width; }
};

__global__ void call_through_pointers(int* out, int n, Step from_host) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Square square;
    Strip strip(i);
    const Shape* shape = i % 7 < 3 ? static_cast<const Shape*>(&square) : &strip;
    out[i] = steps[i % 3](i) + 1000 * shape->area(i % 5) + 1000000 * from_host(i % 4);
}

__global__ void call_nowhere(Step step, int* out) { *out = step(1); }

extern "C" int run_call_through_pointers(int* out, int n) {
    Step step;
    cudaMemcpyFromSymbol(&step, favourite, sizeof step);
    call_through_pointers<<<(n + 63) / 64, 64>>>(out, n, step);
    return cudaDeviceSynchronize();
}

extern "C" int run_call_nowhere(int* out) {
    call_nowhere<<<1, 1>>>(nullptr, out);
    return cudaDeviceSynchronize();
}

// Each block waits until the one before it is through: its first thread looks, and tells the others.
__global__ void wait_for_the_block_before(int* done) {
    __shared__ int is_done;
    int block = blockIdx.x;
    do {
        __syncthreads();
        if (threadIdx.x == 0) is_done = block == 0 || atomicAdd(&done[block - 1], 0);
        __syncthreads();
    } while (!is_done);
    if (threadIdx.x == 0) atomicExch(&done[block], block + 1);
}

extern "C" int run_wait_for_the_block_before(int* done, int blocks) {
    wait_for_the_block_before<<<blocks, 128>>>(done);
    return cudaDeviceSynchronize();
}

// Each warp draws numbers before and after many looks: `stride` apart, by volatile loads or by atomics.
__global__ void look_and_draw(int* drawn, int* looked_at, int looks, int stride, bool by_atomics) {
    int warp = threadIdx.x / 32, seen = 0;
    if (threadIdx.x % 32) return;
    int first = atomicAdd(&drawn[0], 1);
    if (by_atomics) {
        for (int i = 0; i < looks; ++i) seen |= atomicOr(&looked_at[i * stride], 0);
    } else {
        for (int i = 0; i < looks; ++i) seen |= static_cast<volatile int*>(looked_at)[i * stride];
    }
    drawn[1 + warp] = atomicAdd(&drawn[0], 1) - first + seen;
}

extern "C" int run_look_and_draw(int* drawn, int* looked_at, int looks, int stride, bool by_atomics) {
    look_and_draw<<<1, 128>>>(drawn, looked_at, looks, stride, by_atomics);
    return cudaDeviceSynchronize();
}
