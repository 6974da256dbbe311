// A block for each row reads it once. What is above the threshold goes to a list in shared memory; when the list is half full, it is
// sorted, the k largest stay, and the k-th becomes the threshold. The draw is a scan over the k weights.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 512, PER_STEP = 4 * THREADS, ROOM = 2 * PER_STEP;
constexpr float LOG2_E = 1.4426950408889634f;

// Unsigned numbers in the order of the floats.
__device__ uint32_t key_of(float x) {
    uint32_t bits = __float_as_uint(x);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ float value_of(uint32_t key) { return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

// Bitonic, descending; what lies beyond `count` counts as smallest.
__device__ void sort(uint64_t* list, int count) {
    int size = 2;
    while (size < count) size *= 2;
    for (int i = count + threadIdx.x; i < size; i += THREADS) list[i] = 0;
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
        for (int gap = run / 2; gap > 0; gap /= 2) {
            for (int i = threadIdx.x; i < size / 2; i += THREADS) {
                int low = 2 * i - (i & (gap - 1)), high = low + gap;
                uint64_t a = list[low], b = list[high];
                if ((a < b) == ((low & run) == 0)) {
                    list[low] = b;
                    list[high] = a;
                }
            }
            __syncthreads();
        }
    }
}

template <bool ALIGNED>
__device__ float4 read(const float* row, int i, int end) {
    const float none = -INFINITY;
    if (ALIGNED) return i < end ? __ldcs(reinterpret_cast<const float4*>(row + i)) : make_float4(none, none, none, none);
    float4 four;
    four.x = i < end ? row[i] : none;
    four.y = i + 1 < end ? row[i + 1] : none;
    four.z = i + 2 < end ? row[i + 2] : none;
    four.w = i + 3 < end ? row[i + 3] : none;
    return four;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS) draw(const float* __restrict__ logits, const float* __restrict__ uniforms,
                                                int* __restrict__ tokens, int vocab_size, int k, float scale) {
    __shared__ uint64_t list[ROOM];
    __shared__ float of_warp[THREADS / 32];
    __shared__ int held;
    const float* row = logits + (size_t)blockIdx.x * vocab_size;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) held = 0;
    uint32_t threshold = key_of(-INFINITY);
    float4 next = read<ALIGNED>(row, 4 * threadIdx.x, vocab_size);
    __syncthreads();
    for (int start = 0; start < vocab_size; start += PER_STEP) {
        float4 now = next;
        int at = start + 4 * threadIdx.x;
        next = read<ALIGNED>(row, at + PER_STEP, vocab_size);
        float four[4] = {now.x, now.y, now.z, now.w};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t key = key_of(four[i]);
            if (key > threshold) list[atomicAdd(&held, 1)] = (uint64_t)key << 32 | (uint32_t)(at + i);
        }
        __syncthreads();
        int count = held;
        __syncthreads();
        if (count > ROOM - PER_STEP) {
            sort(list, count);
            threshold = (uint32_t)(list[k - 1] >> 32);
            if (threadIdx.x == 0) held = k;
            __syncthreads();
        }
    }
    sort(list, held);
    // Two weights for each thread; their inclusive scan.
    float first = value_of((uint32_t)(list[0] >> 32)), weight[2];
    for (int i = 0; i < 2; i++) {
        int rank = 2 * threadIdx.x + i;
        weight[i] = rank < k ? exp2f((value_of((uint32_t)(list[rank] >> 32)) - first) * scale) : 0.0f;
    }
    float sum = weight[0] + weight[1];
    for (int gap = 1; gap < 32; gap *= 2) {
        float other = __shfl_up_sync(0xffffffffu, sum, gap);
        if (lane >= gap) sum += other;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    float before = 0.0f, total = 0.0f;
    for (int w = 0; w < THREADS / 32; w++) {
        if (w == warp) before = total;
        total += of_warp[w];
    }
    float limit = uniforms[blockIdx.x] * total, upto = before + sum;
    int rank = 2 * threadIdx.x;
    int passed = (rank < k && upto - weight[1] <= limit) + (rank + 1 < k && upto <= limit);
    // `upto` ascends but for rounding, so the number of steps that are not above the limit is the rank.
    int ones = __syncthreads_count(passed >= 1), twos = __syncthreads_count(passed == 2);
    if (threadIdx.x == 0) tokens[blockIdx.x] = (int)(uint32_t)list[min(ones + twos, k - 1)];
}

extern "C" void solve(const float* logits, const float* uniforms, int* tokens, int batch, int vocab_size, int k, float temperature) {
    float scale = LOG2_E / temperature;
    if (vocab_size % 4 == 0) {
        draw<true><<<batch, THREADS>>>(logits, uniforms, tokens, vocab_size, k, scale);
    } else {
        draw<false><<<batch, THREADS>>>(logits, uniforms, tokens, vocab_size, k, scale);
    }
}
