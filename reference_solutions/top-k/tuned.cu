// Radix selection. A histogram of the 11 leading bits tells the bin of the k-th largest number; one more pass over the
// input writes what lies above that bin and keeps what lies in it. Two more histograms, over what was kept alone, give
// the k-th largest value exactly; what is above it is written, and its copies fill the rest. At last the k numbers are
// sorted: in shared memory by one block where they fit, else by a bitonic network over the whole GPU.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int ITEMS = 16;
constexpr int BINS = 2048;
constexpr int MOST_IN_SHARED = 4096;

struct Selection {
    unsigned prefix;      // the leading bits of the k-th largest key that are known so far
    unsigned remaining;   // how many numbers with this prefix belong to the k largest
    unsigned written;     // how many numbers were written to the output
    unsigned candidates;  // how many numbers were kept
};

__device__ Selection selection;
__device__ unsigned bins[3][BINS];

// Keys that are ordered as the numbers are.
__device__ unsigned key_of(float value) {
    unsigned bits = __float_as_uint(value);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__global__ void start(unsigned k) {
    for (int i = threadIdx.x; i < 3 * BINS; i += blockDim.x) bins[i / BINS][i % BINS] = 0;
    if (threadIdx.x == 0) selection = {0, k, 0, 0};
}

// Counts (key >> shift) & mask of the numbers whose bits above are the prefix found so far.
__global__ void __launch_bounds__(THREADS) count(const float* values, int n, int level, int shift, int width) {
    __shared__ unsigned local[BINS];
    for (int i = threadIdx.x; i < BINS; i += THREADS) local[i] = 0;
    __syncthreads();
    if (level > 0) n = selection.candidates;
    unsigned prefix = selection.prefix;
    int quads = n / 4;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads + n % 4; i += gridDim.x * THREADS) {
        float4 four;
        int used = 4;
        if (i < quads) {
            four = reinterpret_cast<const float4*>(values)[i];
        } else {
            four.x = values[quads * 4 + (i - quads)];
            used = 1;
        }
        float each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (j >= used) break;
            unsigned key = key_of(each[j]);
            if (level == 0 || (key >> (shift + width)) == prefix) atomicAdd(&local[(key >> shift) & ((1u << width) - 1)], 1);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < BINS; i += THREADS) {
        if (local[i]) atomicAdd(&bins[level][i], local[i]);
    }
}

// Finds the bin in which the k-th largest number lies: one warp goes down from the highest bin, 32 bins at a time.
__global__ void choose(int level, int width) {
    unsigned remaining = selection.remaining;
    for (int top = (1 << width) - 1; top >= 0; top -= 32) {
        unsigned here = bins[level][top - threadIdx.x];
        unsigned sum = here;
        for (int offset = 1; offset < 32; offset *= 2) {
            unsigned other = __shfl_up_sync(0xffffffffu, sum, offset);
            if (threadIdx.x >= offset) sum += other;
        }
        unsigned reached = __ballot_sync(0xffffffffu, sum >= remaining);
        if (reached) {
            // All have read what one lane replaces.
            __syncwarp();
            if (threadIdx.x == __ffs(reached) - 1) {
                selection.prefix = selection.prefix << width | (top - threadIdx.x);
                selection.remaining = remaining - (sum - here);
            }
            return;
        }
        remaining -= __shfl_sync(0xffffffffu, sum, 31);
    }
}

// Returns where each thread writes its `mine` numbers: one atomic addition a block.
__device__ unsigned reserve(unsigned* counter, unsigned mine) {
    __shared__ unsigned of_warp[THREADS / 32];
    __shared__ unsigned base;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = mine;
    for (int offset = 1; offset < 32; offset *= 2) {
        unsigned other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += other;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned total = 0;
        for (int i = 0; i < THREADS / 32; i++) {
            unsigned here = of_warp[i];
            of_warp[i] = total;
            total += here;
        }
        base = total ? atomicAdd(counter, total) : 0;
    }
    __syncthreads();
    unsigned place = base + of_warp[warp] + sum - mine;
    __syncthreads();
    return place;
}

// Writes the numbers above the prefix to the output. Keeps those that have it or, where only kept ones are gone through,
// does not.
template <bool OF_KEPT>
__global__ void __launch_bounds__(THREADS) collect(const float* values, int n, int shift, float* output, float* kept) {
    if constexpr (OF_KEPT) n = selection.candidates;
    unsigned prefix = selection.prefix;
    for (long long tile = (long long)blockIdx.x * THREADS * ITEMS; tile < n; tile += (long long)gridDim.x * THREADS * ITEMS) {
        float mine[ITEMS];
        unsigned above = 0, equal = 0;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            long long i = tile + j * THREADS + threadIdx.x;
            if (i >= n) continue;
            mine[j] = values[i];
            unsigned head = key_of(mine[j]) >> shift;
            above |= (unsigned)(head > prefix) << j;
            equal |= (unsigned)(head == prefix) << j;
        }
        unsigned place = reserve(&selection.written, __popc(above));
        unsigned kept_place = !OF_KEPT ? reserve(&selection.candidates, __popc(equal)) : 0;
#pragma unroll
        for (int j = 0; j < ITEMS; j++) {
            if (above >> j & 1) output[place++] = mine[j];
            if (!OF_KEPT && (equal >> j & 1)) kept[kept_place++] = mine[j];
        }
    }
}

__global__ void fill(float* output, int k) {
    unsigned key = selection.prefix;
    float value = __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
    for (int i = selection.written + blockIdx.x * blockDim.x + threadIdx.x; i < k; i += gridDim.x * blockDim.x) output[i] = value;
}

__device__ void order(float* data, unsigned i, unsigned partner, unsigned n) {
    if (partner > i && partner < n && data[i] < data[partner]) {
        float smaller = data[i];
        data[i] = data[partner];
        data[partner] = smaller;
    }
}

__global__ void sort_in_shared(float* data, unsigned n) {
    __shared__ float part[MOST_IN_SHARED];
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) part[i] = data[i];
    __syncthreads();
    for (unsigned size = 2; size / 2 < n; size *= 2) {
        for (unsigned mask = size - 1, step = size / 4;; mask = step, step /= 2) {
            for (unsigned i = threadIdx.x; i < n; i += blockDim.x) order(part, i, i ^ mask, n);
            __syncthreads();
            if (step == 0) break;
        }
    }
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) data[i] = part[i];
}

__global__ void compare_exchange(float* data, unsigned n, unsigned mask) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    order(data, i, i ^ mask, n);
}

extern "C" void solve(const float* input, float* output, int N, int k) {
    float* kept;
    cudaMallocAsync(&kept, sizeof(float) * N, 0);
    int blocks = min((N + THREADS * ITEMS - 1) / (THREADS * ITEMS), 1056);
    start<<<1, 1024>>>(k);
    count<<<blocks, THREADS>>>(input, N, 0, 21, 11);
    choose<<<1, 32>>>(0, 11);
    collect<false><<<blocks, THREADS>>>(input, N, 21, output, kept);
    count<<<blocks, THREADS>>>(kept, 0, 1, 10, 11);
    choose<<<1, 32>>>(1, 11);
    count<<<blocks, THREADS>>>(kept, 0, 2, 0, 10);
    choose<<<1, 32>>>(2, 10);
    collect<true><<<blocks, THREADS>>>(kept, 0, 0, output, nullptr);
    fill<<<min((k + 255) / 256, 1056), 256>>>(output, k);
    cudaFreeAsync(kept, 0);
    if (k <= MOST_IN_SHARED) {
        sort_in_shared<<<1, min(1024, (k + 31) / 32 * 32)>>>(output, k);
        return;
    }
    unsigned tiles = (k + 255u) / 256u;
    for (unsigned size = 2; size / 2 < (unsigned)k; size *= 2) {
        compare_exchange<<<tiles, 256>>>(output, k, size - 1);
        for (unsigned step = size / 4; step > 0; step /= 2) compare_exchange<<<tiles, 256>>>(output, k, step);
    }
}
