// Kernels that share memory as one should, in the ways people write them: the full checks have nothing to say of any.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void tile_matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__device__ float warp_sum(float value) {
    for (int d = 16; d; d >>= 1) value += __shfl_down_sync(0xffffffff, value, d);
    return value;
}

__global__ void shuffle_reduction(const float* in, float* out) {
    __shared__ float part[32];
    float sum = warp_sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}

// The last steps within one warp, in shared memory.
__global__ void syncwarp_reduction(const float* in, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        float sum = s[t] + s[t + 32];
        __syncwarp();
        for (int d = 16; d; d >>= 1) {
            s[t] = sum;
            __syncwarp();
            if (t < d) sum += s[t + d];
            __syncwarp();
        }
        if (t == 0) out[blockIdx.x] = sum;
    }
}

__global__ void volatile_reduction(const float* in, float* out) {
    __shared__ float memory[64];
    volatile float* s = memory;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        if (t < 16) s[t] += s[t + 16];
        if (t < 8) s[t] += s[t + 8];
        if (t < 4) s[t] += s[t + 4];
        if (t < 2) s[t] += s[t + 2];
        if (t < 1) out[blockIdx.x] = s[0] + s[1];
    }
}

__global__ void last_block(const float* in, float* partial, float* out, unsigned* ticket) {
    __shared__ float s[128];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads();
    for (int d = 64; d; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    float sum = 0;
    for (unsigned i = t; i < gridDim.x; i += 128) sum += partial[i];
    s[t] = sum;
    __syncthreads();
    for (int d = 64; d; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        *out = s[0];
        *ticket = 0;
    }
}

// Every thread writes and fences; then one of the block takes the ticket.
__global__ void last_block_of_many(float* partial, float* out, unsigned* ticket) {
    __shared__ bool last;
    partial[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        float sum = 0;
        for (unsigned b = 0; b < gridDim.x; ++b) sum += partial[b * blockDim.x + threadIdx.x];
        out[threadIdx.x] = sum;
    }
}

// Chained scan with look-back: 0 nothing, 1 the block's own sum, 2 the sum up to and with the block.
__global__ void look_back(const int* in, int* out, int* sums, int* prefixes, volatile int* states, int* next) {
    __shared__ int number, before, s[64];
    int t = threadIdx.x;
    if (t == 0) number = atomicAdd(next, 1);
    __syncthreads();
    int block = number;
    s[t] = in[block * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int add = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    if (t == 0) {
        sums[block] = s[63];
        __threadfence();
        states[block] = 1;
        int sum = 0;
        for (int b = block - 1; b >= 0;) {
            int state = states[b];
            if (state == 0) continue;
            __threadfence();
            if (state == 2) {
                sum += prefixes[b];
                break;
            }
            sum += sums[b--];
        }
        prefixes[block] = sum + s[63];
        __threadfence();
        states[block] = 2;
        before = sum;
    }
    __syncthreads();
    out[block * 64 + t] = before + s[t];
}

__global__ void spin_lock(int* lock, int* counter) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        *counter += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// Each lane takes the lock in its turn.
__global__ void lock_in_warp(int* lock, int* counter) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

__global__ void double_buffered(const float4* in, float4* out, int tiles) {
    __shared__ float4 buffer[2][64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][t], &in[t], 16);
    __pipeline_commit();
    float4 sum = {0, 0, 0, 0};
    for (int i = 0; i < tiles; ++i) {
        if (i + 1 < tiles) {
            __pipeline_memcpy_async(&buffer[(i + 1) % 2][t], &in[(i + 1) * 64 + t], 16);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        float4 x = buffer[i % 2][63 - t];
        sum.x += x.x;
        sum.y += x.y;
        sum.z += x.z;
        sum.w += x.w;
        __syncthreads();
    }
    out[t] = sum;
}

__global__ void grid_sync(float* a, float* b) {
    cg::grid_group grid = cg::this_grid();
    unsigned i = grid.thread_rank(), n = grid.size();
    for (int step = 0; step < 3; ++step) {
        b[i] = a[(i + 37) % n] + 1;
        grid.sync();
        a[i] = b[(i + 41) % n] + 1;
        grid.sync();
    }
}

__global__ void tiled_groups(const int* in, int* out) {
    __shared__ int s[128];
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    s[block.thread_rank()] = in[block.thread_rank()];
    tile.sync();
    int value = s[block.thread_rank() ^ 5];
    value = cg::reduce(tile, value, cg::plus<int>());
    block.sync();
    s[block.thread_rank()] = value;
    block.sync();
    out[block.thread_rank()] = s[127 - block.thread_rank()];
}

__global__ void histogram(const unsigned char* in, unsigned* out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void bitonic_sort(int* values) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = values[t];
    __syncthreads();
    for (int k = 2; k <= 256; k *= 2) {
        for (int j = k / 2; j; j /= 2) {
            int other = t ^ j;
            if (other > t && (s[t] > s[other]) == !(t & k)) {
                int swap = s[t];
                s[t] = s[other];
                s[other] = swap;
            }
            __syncthreads();
        }
    }
    values[t] = s[t];
}

// Two halves of the block hand buffers to each other at barriers of their own.
__global__ void producer_consumer(const float* in, float* out, int steps) {
    __shared__ float buffer[2][64];
    int lane = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        for (int i = 0; i < steps; ++i) {
            if (i >= 2) asm volatile("barrier.sync %0, 128;" ::"r"(3 + i % 2) : "memory");
            buffer[i % 2][lane] = in[i * 64 + lane];
            asm volatile("barrier.arrive %0, 128;" ::"r"(1 + i % 2) : "memory");
        }
    } else {
        float sum = 0;
        for (int i = 0; i < steps; ++i) {
            asm volatile("barrier.sync %0, 128;" ::"r"(1 + i % 2) : "memory");
            sum += buffer[i % 2][63 - lane];
            if (i + 2 < steps) asm volatile("barrier.arrive %0, 128;" ::"r"(3 + i % 2) : "memory");
        }
        out[lane] = sum;
    }
}

// Several threads set one flag, all to the same value.
__global__ void same_value(const int* in, int* found, bool* any) {
    __shared__ int flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (in[threadIdx.x] > 3) flag = 1;
    __syncthreads();
    if (flag) *any = true;
    found[blockIdx.x] = flag;
}

__global__ void bytes(const char* in, char* out) {
    __shared__ char text[128];
    __shared__ short halves[128];
    text[threadIdx.x] = in[threadIdx.x];
    halves[threadIdx.x] = threadIdx.x;
    __syncthreads();
    reinterpret_cast<int*>(out)[threadIdx.x % 32] = reinterpret_cast<int*>(text)[threadIdx.x % 32] + 0 * halves[127 - threadIdx.x];
}

// Masks of part of a warp, and branches that meet at different instructions.
__global__ void masks(int* out) {
    int lane = threadIdx.x % 32, value = lane;
    if (lane < 8) value = __shfl_xor_sync(0xff, value, 1);
    unsigned peers = __match_any_sync(0xffffffff, lane / 5);
    value += __reduce_add_sync(peers, lane);
    if (lane == 0) {
        value = 7;
        __syncwarp();
    } else {
        __syncwarp();
        value += 1;
    }
    if (lane < 20) {
        unsigned active = __activemask();
        value += __popc(__ballot_sync(active, value > 3));
    }
    out[threadIdx.x] = value;
}

// A loop of compare-and-swap begins with what it finds, in global memory and in a variable in shared memory.
__global__ void swap_loops(const float* in, float* most) {
    __shared__ unsigned of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    float value = in[blockIdx.x * blockDim.x + threadIdx.x];
    int *where = reinterpret_cast<int*>(most), found = *where, expected;
    do {
        expected = found;
        if (__int_as_float(expected) >= value) break;
        found = atomicCAS(where, expected, __float_as_int(value));
    } while (found != expected);
    unsigned before = of_block, assumed;
    do {
        assumed = before;
        before = atomicCAS(&of_block, assumed, assumed + 2);
    } while (before != assumed);
    __syncthreads();
    if (threadIdx.x == 0) most[1 + blockIdx.x] = of_block;
}

// It looks first whether the atomic is worth it.
__global__ void looks_first(const int* in, int* most) {
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value > *most) atomicMax(most, value);
}

// Memory of the device's heap that other threads have used and freed before.
__global__ void short_lived(int* out) {
    int* scratch = static_cast<int*>(malloc(8));
    scratch[0] = threadIdx.x;
    scratch[1] = blockIdx.x;
    atomicAdd(out, scratch[0] + scratch[1]);
    free(scratch);
}

struct Best {
    float value;
    long long index;
};

// The copy reads the bytes between the members, too.
__global__ void padded(const float* in, Best* out) {
    __shared__ Best best[64];
    best[threadIdx.x].value = in[threadIdx.x];
    best[threadIdx.x].index = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = best[63 - threadIdx.x];
}

// The warp's next values overwrite those from which it has made its sum, which every lane waits for.
__global__ void reads_before_a_shuffle(int* m) {
    __shared__ int values[32];
    values[threadIdx.x] = m[threadIdx.x];
    __syncwarp();
    for (int round = 0; round < 4; ++round) {
        int value = values[(threadIdx.x + 1) % 32];
        for (int d = 16; d; d >>= 1) value += __shfl_xor_sync(0xffffffff, value, d);
        values[threadIdx.x] = value & 255;
        __ballot_sync(0xffffffff, value);
    }
    m[threadIdx.x] = values[threadIdx.x];
}

// Each block has a counter of its own, which the last block adds up.
__global__ void counters_of_blocks(int* m, int* counters, unsigned* ticket) {
    __shared__ bool is_last;
    atomicAdd_block(&counters[blockIdx.x], m[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        is_last = atomicAdd(ticket, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x) return;
    __threadfence();
    for (unsigned b = 1; b < gridDim.x; ++b) counters[0] += counters[b];
}

// Odd numbers move to the front, in place. A block says how many it and those before it have, in one word
// with a mark that it is there, so it needs no fence: others write only what it had read before it said so.
__global__ void compact_in_place(int* data, unsigned* counts) {
    __shared__ int kept[64];
    __shared__ unsigned before;
    int t = threadIdx.x, value = data[blockIdx.x * 64 + t];
    kept[t] = value & 1;
    __syncthreads();
    int rank = 0, all = 0;
    for (int i = 0; i < 64; ++i) {
        rank += i < t ? kept[i] : 0;
        all += kept[i];
    }
    if (t == 0) {
        unsigned seen = 1u << 31;
        if (blockIdx.x)
            while (!((seen = static_cast<volatile unsigned*>(counts)[blockIdx.x - 1]) >> 31)) {}
        before = seen & ~(1u << 31);
        static_cast<volatile unsigned*>(counts)[blockIdx.x] = seen + all;
    }
    __syncthreads();
    if (value & 1) data[before + rank] = value;
}

#define RUN(name, parameters, ...)         \
    extern "C" int run_##name parameters { \
        name __VA_ARGS__;                  \
        return cudaDeviceSynchronize();    \
    }

RUN(tile_matmul, (float* m), <<<dim3(4, 4), dim3(16, 16)>>>(m, m + 4096, m + 8192, 64))
RUN(shuffle_reduction, (float* m), <<<16, 256>>>(m, m + 8192))
RUN(syncwarp_reduction, (float* m), <<<16, 128>>>(m, m + 8192))
RUN(volatile_reduction, (float* m), <<<16, 64>>>(m, m + 8192))
RUN(last_block, (float* m), <<<32, 128>>>(m, m + 8192, m + 9000, reinterpret_cast<unsigned*>(m + 9001)))
RUN(last_block_of_many, (float* m), <<<32, 64>>>(m, m + 8192, reinterpret_cast<unsigned*>(m + 9001)))
RUN(look_back, (int* m), <<<40, 64>>>(m, m + 4096, m + 8192, m + 8292, m + 8392, m + 8500))
RUN(compact_in_place, (int* m), <<<40, 64>>>(m, reinterpret_cast<unsigned*>(m) + 8192))
RUN(spin_lock, (int* m), <<<20, 32>>>(m, m + 1))
RUN(lock_in_warp, (int* m), <<<2, 64>>>(m, m + 1))
RUN(double_buffered, (float4* m), <<<1, 64>>>(m, m + 2048, 8))
RUN(tiled_groups, (int* m), <<<1, 128>>>(m, m + 4096))
RUN(histogram, (unsigned* m), <<<4, 256>>>(reinterpret_cast<unsigned char*>(m), m + 4096, 8000))
RUN(bitonic_sort, (int* m), <<<1, 256>>>(m))
RUN(producer_consumer, (float* m), <<<1, 128>>>(m, m + 8192, 7))
RUN(same_value, (int* m), <<<4, 128>>>(m, m + 4096, reinterpret_cast<bool*>(m + 8192)))
RUN(masks, (int* m), <<<1, 50>>>(m))
RUN(bytes, (char* m), <<<1, 128>>>(m, m + 4096))

extern "C" int run_grid_sync(float* m) {
    float* b = m + 4096;
    void* arguments[] = {&m, &b};
    cudaLaunchCooperativeKernel(grid_sync, dim3(8), dim3(128), arguments, 0, 0);
    return cudaDeviceSynchronize();
}
RUN(counters_of_blocks, (int* m), <<<8, 128>>>(m, m + 4096, reinterpret_cast<unsigned*>(m) + 8192))
RUN(swap_loops, (float* m), <<<8, 128>>>(m, m + 8192))
RUN(looks_first, (int* m), <<<8, 128>>>(m, m + 8192))
RUN(short_lived, (int* m), <<<32, 32>>>(m))
RUN(reads_before_a_shuffle, (int* m), <<<1, 32>>>(m))
RUN(padded, (float* m), <<<1, 64>>>(m, reinterpret_cast<Best*>(m + 4096)))
