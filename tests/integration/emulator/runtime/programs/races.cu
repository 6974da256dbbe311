// Kernels that do something wrong which only the full checks see, or which concerns several threads. Tests look for the marked lines.
#include <cuda_runtime.h>

__global__ void no_barrier(float* out) {
    __shared__ float other[16], tile[256];
    other[threadIdx.x % 16] = 0;
    tile[threadIdx.x] = threadIdx.x;  // tile write
    __syncwarp();
    out[threadIdx.x] = tile[(threadIdx.x + 32) % 256] + other[threadIdx.x % 16];  // tile read
}

__global__ void overwritten_too_soon(const float* in, float* out) {
    __shared__ float tile[64];
    float sum = 0;
    for (int step = 0; step < 4; ++step) {
        tile[threadIdx.x] = in[step * 64 + threadIdx.x];  // next tile
        __syncthreads();
        sum += tile[63 - threadIdx.x];  // last tile
    }
    out[threadIdx.x] = sum;
}

__global__ void no_warp_sync(int* out) {
    __shared__ int values[32];
    values[threadIdx.x] = threadIdx.x;  // lane write
    out[threadIdx.x] = values[threadIdx.x ^ 1];  // lane read
}

__global__ void bytes_race(char* out) {
    __shared__ char text[64];
    text[threadIdx.x] = 'a';  // own byte
    __syncthreads();
    text[threadIdx.x] = 'b';
    if (threadIdx.x == 40) text[3] = 'c';  // another's byte
    __syncthreads();
    out[threadIdx.x] = text[threadIdx.x];
}

// The load comes after the atomic, and nothing says that those of others are over.
__global__ void sum_read_too_soon(int* out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, threadIdx.x);  // adds
    if (threadIdx.x == 40) *out = sum;  // sum read
}

__global__ void reads_by_read_only_cache(int* out) {
    out[threadIdx.x] = threadIdx.x;  // write that it need not see
    __syncthreads();
    out[64 + threadIdx.x] = __ldg(out + 63 - threadIdx.x) + __ldg(out + 128);  // read-only load
}

__global__ void plain_counter(int* counter) {
    int old = *counter;  // counter read
    *counter = old + 1;  // counter write
}

__global__ void counter_of_a_block(int* counter) {
    atomicAdd_block(counter, 1);  // counts in its block
}

__global__ void blocks_write_one_place(int* out) {
    out[threadIdx.x] = blockIdx.x;  // blocks write
}

// What a block counts says that it has read, but nobody looks at the count before it writes.
__global__ void counts_that_nobody_awaits(int* data, int* count) {
    int at = blockIdx.x * 32 + threadIdx.x;
    int sum = data[at] + data[(at + 32) % (gridDim.x * 32)];  // reads the next block's
    atomicAdd(count, 1);
    data[at] = sum + 1;  // writes its own
}

// The ticket is taken by thread 0 before the others of its block are known to have written.
__global__ void last_block_too_early(const float* in, float* partial, float* out, unsigned* ticket) {
    __shared__ bool last;
    partial[blockIdx.x * 64 + threadIdx.x] = 2 * in[threadIdx.x];  // partial write
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += partial[b * 64 + threadIdx.x];  // partial read
        out[threadIdx.x] = sum;
    }
}

// Nothing makes what was written before the flag known.
__global__ void flag_without_fence(int* data, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 42;  // data write
        *flag = 1;
    } else {
        while (*flag == 0) {
        }
        *out = *data;  // data read
    }
}

__global__ void uninitialized_tile(float* out) {
    __shared__ float tile[96];
    if (threadIdx.x < 70) tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];  // tile unwritten
}

__global__ void uninitialized_part(float* out) {
    __shared__ float4 tile[32];
    float* numbers = reinterpret_cast<float*>(tile);
    for (int i = threadIdx.x; i < 126; i += 32) numbers[i] = 1;
    __syncthreads();
    float4 four = tile[threadIdx.x];  // part unwritten
    out[threadIdx.x] = four.x + four.y + four.z + four.w;
}

// The last thread reads past what was written.
__global__ void reads_past(int* out, int how) {
    __shared__ int tile[65];
    int i = threadIdx.x, written = how == 0 ? 64 : 65;
    tile[i] = i;
    __syncthreads();
    int here = tile[i], next = static_cast<volatile int*>(tile)[i + 1];  // next unwritten
    if (how <= 1) {
        out[i] = i + 1 < written && next < here ? next : here;
    } else if (how == 2) {
        if (next > here) out[i] = 1;
    } else if (how == 3) {
        out[i] = tile[next & 63];
    } else if (how == 4) {
        out[i] = __shfl_sync(0xffffffff, next, i ^ 1);
    } else {
        out[i] = here;
    }
}

// The last thread reads past what was written, and hands it on: to its neighbor by a shuffle, or by shared memory.
__global__ void hands_on(int* out, int by_shuffle, int uses) {
    __shared__ int tile[65], other[64];
    int i = threadIdx.x;
    tile[i] = i;
    __syncthreads();
    int got = static_cast<volatile int*>(tile)[i + 1];  // handed on
    if (by_shuffle) {
        got = __shfl_xor_sync(0xffffffff, got, 1);
    } else {
        static_cast<volatile int*>(other)[i] = got;
        __syncthreads();
        got = static_cast<volatile int*>(other)[i ^ 1];
    }
    out[i] = uses || i < 62 ? got : i;
}

// Lanes meet at two shuffles, in both branches of an if.
__global__ void hands_on_apart(int* out, int uses) {
    __shared__ int tile[65];
    int i = threadIdx.x, got;
    tile[i] = i;
    __syncthreads();
    int next = static_cast<volatile int*>(tile)[i + 1];  // handed on apart
    if (i % 2) {
        got = __shfl_sync(0xffffffff, next, 0);
        out[i] = got + 1;
    } else {
        got = __shfl_sync(0xffffffff, uses ? next : i, 31);
        out[i] = got;
    }
}

// What was stored without a value gets one, after all.
__global__ void hands_on_anew(int* out) {
    __shared__ int tile[65], other[64];
    int i = threadIdx.x;
    tile[i] = i;
    __syncthreads();
    static_cast<volatile int*>(other)[i] = static_cast<volatile int*>(tile)[i + 1];
    static_cast<volatile int*>(other)[i] = i;
    __syncthreads();
    out[i] = other[i ^ 1];
}

// Each thread reads one number more than it adds.
__global__ void fetches_ahead(int* out) {
    __shared__ volatile int tile[65];
    tile[threadIdx.x] = 1;
    __syncthreads();
    int sum = 0, next = tile[threadIdx.x];
    for (int i = threadIdx.x; i < 64; ++i) {
        sum += next;
        next = tile[i + 1];
    }
    out[threadIdx.x] = sum;
}

__global__ void reads(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];  // plain read
}

__global__ void counts(int* counters) {
    atomicAdd(&counters[threadIdx.x], 1);  // counted
}

__global__ void some_leave(float* out, int n) {
    if (threadIdx.x >= n) return;
    __syncthreads();  // left alone
    out[threadIdx.x] = 1;
}

__global__ void two_barriers(float* out) {
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();  // first of two
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();  // second of two
        out[threadIdx.x] += 1;
    }
}

__global__ void waits_for_ever(int* out) {
    if (threadIdx.x < 32) asm volatile("barrier.sync 1, 64;");  // never complete
    out[threadIdx.x] = 1;
}

__global__ void spins(volatile int* flag, int* out) {
    if (threadIdx.x == 33) {
        while (*flag == 0) {  // spins
        }
    }
    *out = 1;
}

__global__ void not_in_its_mask(int* out) {
    int value = threadIdx.x;
    if (threadIdx.x < 8) value = __shfl_xor_sync(0x0f, value, 1);  // not in mask
    out[threadIdx.x] = value;
}

__global__ void never_comes(int* out) {
    if (threadIdx.x != 5) __syncwarp();  // never comes
    else __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void local_past(int* out, int at, int n) {
    int mine[12];
    for (int i = 0; i < n; ++i) mine[i] = i;
    mine[at + static_cast<int>(threadIdx.x)] = 1;  // local write
    out[threadIdx.x] = mine[n - 1 - threadIdx.x % 2];
}

__global__ void local_read_past(int* out, int at) {
    int mine[12];
    for (int i = 0; i < 12; ++i) mine[i] = i * at;
    out[threadIdx.x] = mine[at];  // local read
}

__device__ volatile int* left_over;
__global__ void frees_memory(int* out, int given_anew) {
    volatile int* piece = left_over = static_cast<int*>(malloc(64));
    piece[3] = 5;
    out[0] = piece[3];
    free(const_cast<int*>(piece));  // frees
    if (given_anew) left_over = static_cast<int*>(malloc(64));
    if (given_anew) left_over[3] = 6;
}
__global__ void uses_freed(int* out, int writes) {
    if (writes)
        left_over[3] = 7;  // freed write
    else
        out[1] = left_over[3];  // freed read
}

#define RUN(name, parameters, ...)         \
    extern "C" int run_##name parameters { \
        name __VA_ARGS__;                  \
        return cudaDeviceSynchronize();    \
    }

RUN(no_barrier, (float* out), <<<1, 256>>>(out))
RUN(overwritten_too_soon, (const float* in, float* out), <<<1, 64>>>(in, out))
RUN(no_warp_sync, (int* out), <<<1, 32>>>(out))
RUN(bytes_race, (char* out), <<<1, 64>>>(out))
RUN(plain_counter, (int* counter), <<<4, 1>>>(counter))
RUN(counter_of_a_block, (int* counter), <<<4, 1>>>(counter))
RUN(blocks_write_one_place, (int* out), <<<3, 32>>>(out))
RUN(counts_that_nobody_awaits, (int* data, int* count), <<<4, 32>>>(data, count))
RUN(last_block_too_early, (const float* in, float* partial, float* out, unsigned* ticket), <<<8, 64>>>(in, partial, out, ticket))
RUN(flag_without_fence, (int* data, int* flag, int* out), <<<2, 1>>>(data, flag, out))
RUN(sum_read_too_soon, (int* out), <<<1, 64>>>(out))
RUN(reads_by_read_only_cache, (int* out), <<<1, 64>>>(out))
RUN(uninitialized_tile, (float* out), <<<1, 96>>>(out))
RUN(uninitialized_part, (float* out), <<<1, 32>>>(out))
RUN(reads_past, (int* out, int how), <<<1, 64>>>(out, how))
RUN(hands_on, (int* out, int by_shuffle, int uses), <<<1, 64>>>(out, by_shuffle, uses))
RUN(hands_on_apart, (int* out, int uses), <<<1, 32>>>(out, uses))
RUN(hands_on_anew, (int* out), <<<1, 64>>>(out))
RUN(fetches_ahead, (int* out), <<<1, 64>>>(out))
RUN(local_past, (int* out, int at, int n), <<<1, 32>>>(out, at, n))
RUN(local_read_past, (int* out, int at), <<<1, 32>>>(out, at))
RUN(some_leave, (float* out, int n), <<<2, 64>>>(out, n))
RUN(two_barriers, (float* out), <<<1, 64>>>(out))
RUN(waits_for_ever, (int* out), <<<1, 64>>>(out))
RUN(spins, (int* flag, int* out), <<<1, 64>>>(flag, out))
RUN(not_in_its_mask, (int* out), <<<1, 32>>>(out))
RUN(never_comes, (int* out), <<<1, 32>>>(out))

// Of 100 floats the host writes `written`; memset writes `filled` bytes behind them.
extern "C" int run_reads(float* out, int written, int filled) {
    float *scratch, *copy, zeros[100] = {};
    cudaMalloc(&scratch, 400);
    cudaMalloc(&copy, 400);
    cudaMemcpy(scratch, zeros, 4 * written, cudaMemcpyHostToDevice);
    cudaMemset(scratch + written, 0, filled);
    cudaMemcpy(copy, scratch, 400, cudaMemcpyDeviceToDevice);
    reads<<<2, 64>>>(copy, out, 100);
    cudaFree(copy);
    return cudaFree(scratch);
}

extern "C" int run_counts() {
    int* counters;
    cudaMalloc(&counters, 128);
    counts<<<1, 32>>>(counters);
    return cudaFree(counters);
}

extern "C" int run_uses_freed(int* out, int writes, int given_anew) {
    frees_memory<<<1, 1>>>(out, given_anew);
    uses_freed<<<1, 1>>>(out, writes);
    return cudaDeviceSynchronize();
}
