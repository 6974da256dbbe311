// All sums are the first sum plus prefix sums of the differences between the element that comes in and the one that goes
// out, whatever the length of the windows. A part of the vector is described by the sum of its differences and the largest
// of its prefix sums, and two such pairs combine to one. The first kernel makes the pair of each part of 4096 differences,
// which go through shared memory so that each thread has sixteen neighbouring ones, and adds up what of its part belongs to
// the first window; the second, a single block, combines the pairs in order.
#include <climits>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PER_THREAD = 16;
constexpr int PART = THREADS * PER_THREAD;
constexpr int MOST_PARTS = 1 << 16;
constexpr int LEAST = INT_MIN / 2;  // far below every sum, and not near enough to the end to wrap around

struct Pair {
    int sum;
    int largest;
};

__device__ Pair pairs[MOST_PARTS];
__device__ int first_window[MOST_PARTS];

__device__ Pair combined(Pair left, Pair right) { return {left.sum + right.sum, max(left.largest, left.sum + right.largest)}; }

// Combines the pairs of all threads in order; thread 0 gets the result.
__device__ Pair combined_over_block(Pair pair) {
    __shared__ Pair of_warp[THREADS / 32];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        Pair right = {__shfl_down_sync(0xffffffffu, pair.sum, distance), __shfl_down_sync(0xffffffffu, pair.largest, distance)};
        pair = combined(pair, right);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = pair;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int warp = 1; warp < THREADS / 32; warp++) pair = combined(pair, of_warp[warp]);
    return pair;
}

__device__ int sum_over_block(int value) {
    __shared__ int of_warp[THREADS / 32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int warp = 1; warp < THREADS / 32; warp++) value += of_warp[warp];
    return value;
}

__global__ void __launch_bounds__(THREADS) describe_parts(const int* __restrict__ input, int N, int window_size) {
    // One place more for every sixteen: threads that read sixteen neighbouring ones meet different banks.
    __shared__ int differences[PART + THREADS];
    int begin = blockIdx.x * PART;
    int windows = N - window_size + 1;
    int of_first = 0;
    int out[PER_THREAD], in[PER_THREAD];
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = begin + j * THREADS + threadIdx.x;
        out[j] = i < N ? input[i] : 0;
        in[j] = i < windows - 1 ? input[i + window_size] : 0;
    }
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int place = j * THREADS + threadIdx.x, i = begin + place;
        if (i < window_size) of_first += out[j];
        differences[place + place / PER_THREAD] = in[j] - out[j];
    }
    __syncthreads();

    // Window i is the first one plus the differences before i: the largest of those sums, over the windows of this thread.
    Pair pair = {0, LEAST};
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = begin + threadIdx.x * PER_THREAD + j;
        if (i < windows) pair.largest = max(pair.largest, pair.sum);
        if (i < windows - 1) pair.sum += differences[threadIdx.x * (PER_THREAD + 1) + j];
    }
    pair = combined_over_block(pair);
    int sum = sum_over_block(of_first);
    if (threadIdx.x == 0) {
        pairs[blockIdx.x] = pair;
        first_window[blockIdx.x] = sum;
    }
}

__global__ void __launch_bounds__(THREADS) combine_parts(int* output, int parts) {
    int share = (parts + THREADS - 1) / THREADS;
    int sum = 0;
    Pair pair = {0, LEAST};
    for (int j = 0; j < share; j++) {
        int part = threadIdx.x * share + j;
        if (part >= parts) break;
        sum += first_window[part];
        pair = combined(pair, pairs[part]);
    }
    pair = combined_over_block(pair);
    sum = sum_over_block(sum);
    if (threadIdx.x == 0) *output = sum + pair.largest;
}

extern "C" void solve(const int* input, int* output, int N, int window_size) {
    int parts = (N + PART - 1) / PART;
    describe_parts<<<parts, THREADS>>>(input, N, window_size);
    combine_parts<<<1, THREADS>>>(output, parts);
}
