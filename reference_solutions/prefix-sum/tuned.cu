// Reduce, then scan: the first kernel only reads, and leaves the sum of each part of 8192 elements; one block scans those
// sums; the last kernel reads again and writes. So memory is passed three times, not four. Each thread has 16 elements in
// registers, which it sums up by itself, in four groups of four that a warp loads side by side; between threads go
// shuffles, and between warps one line of shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr int GROUPS = 4;
constexpr int WARP_PART = 32 * 4 * GROUPS;
constexpr int PART = WARPS * WARP_PART;
constexpr int MOST_PARTS = 1 << 15;

__device__ float sums[MOST_PARTS];

__device__ float sum_of_warp(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

__device__ float scan_of_warp(float value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        float before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance) value += before;
    }
    return value;
}

// The four elements from i on; zeros for those past the end.
__device__ float4 load(const float* input, int i, int N) {
    if (i + 4 <= N) return *reinterpret_cast<const float4*>(input + i);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (i < N) v.x = input[i];
    if (i + 1 < N) v.y = input[i + 1];
    if (i + 2 < N) v.z = input[i + 2];
    return v;
}

// Returns the sum over all warps before this one, and sets `total` to that over all.
__device__ float sum_before_warp(float warp_sum, float& total) {
    __shared__ float of_warp[WARPS];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    __syncthreads();
    if (lane == 0) of_warp[warp] = warp_sum;
    __syncthreads();
    float value = scan_of_warp(lane < WARPS ? of_warp[lane] : 0.0f);
    total = __shfl_sync(0xffffffffu, value, WARPS - 1);
    float before = __shfl_sync(0xffffffffu, value, max(warp - 1, 0));
    return warp == 0 ? 0.0f : before;
}

__global__ void __launch_bounds__(THREADS) sum_parts(const float* __restrict__ input, int N) {
    int first = blockIdx.x * PART + threadIdx.x * 4;
    float part = 0.0f;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        float4 v = load(input, first + g * THREADS * 4, N);
        part += (v.x + v.y) + (v.z + v.w);
    }
    float total;
    sum_before_warp(sum_of_warp(part), total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Replaces each sum by that of all parts before it.
__global__ void __launch_bounds__(THREADS) scan_sums(int count) {
    float before = 0.0f;
    for (int start = 0; start < count; start += THREADS) {
        int i = start + threadIdx.x;
        float value = i < count ? sums[i] : 0.0f;
        float scanned = scan_of_warp(value), total;
        float here = sum_before_warp(__shfl_sync(0xffffffffu, scanned, 31), total) + scanned;
        if (i < count) sums[i] = before + (here - value);
        before += total;
    }
}

__global__ void __launch_bounds__(THREADS) scan_parts(const float* __restrict__ input, float* __restrict__ output, int N) {
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int first = blockIdx.x * PART + warp * WARP_PART + lane * 4;
    float4 value[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; g++) value[g] = load(input, first + g * 128, N);

    float warp_sum = 0.0f;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        float4& v = value[g];
        v.y += v.x, v.z += v.y, v.w += v.z;
        float scanned = scan_of_warp(v.w);
        float before = warp_sum + __shfl_up_sync(0xffffffffu, scanned, 1);
        if (lane == 0) before = warp_sum;
        v.x += before, v.y += before, v.z += before, v.w += before;
        warp_sum += __shfl_sync(0xffffffffu, scanned, 31);
    }
    float total;
    float before = sums[blockIdx.x] + sum_before_warp(warp_sum, total);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
        int i = first + g * 128;
        float4 v = make_float4(value[g].x + before, value[g].y + before, value[g].z + before, value[g].w + before);
        if (i + 4 <= N) {
            *reinterpret_cast<float4*>(output + i) = v;
        } else {
            if (i < N) output[i] = v.x;
            if (i + 1 < N) output[i + 1] = v.y;
            if (i + 2 < N) output[i + 2] = v.z;
        }
    }
}

extern "C" void solve(const float* input, float* output, int N) {
    int parts = (N + PART - 1) / PART;
    sum_parts<<<parts, THREADS>>>(input, N);
    scan_sums<<<1, THREADS>>>(parts);
    scan_parts<<<parts, THREADS>>>(input, output, N);
}
