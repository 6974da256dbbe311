// A warp to a row, which stays in registers as far as it fits; shuffles only, no shared memory.
#include <cuda_runtime.h>
#include <math.h>

constexpr int KEPT = 32;  // numbers in the registers of a lane: rows of up to 1024

__device__ float warp_max(float x) {
#pragma unroll
    for (int mask = 16; mask; mask /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, mask));
    return x;
}

__device__ float warp_sum(float x) {
#pragma unroll
    for (int mask = 16; mask; mask /= 2) x += __shfl_xor_sync(0xffffffff, x, mask);
    return x;
}

__global__ void __launch_bounds__(128) softmax(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    in += (size_t)row * columns;
    out += (size_t)row * columns;
    float kept[KEPT], largest = -INFINITY, sum = 0;
#pragma unroll
    for (int j = 0; j < KEPT; j++) {
        int i = j * 32 + lane;
        kept[j] = i < columns ? in[i] : -INFINITY;
        largest = fmaxf(largest, kept[j]);
    }
    for (int i = KEPT * 32 + lane; i < columns; i += 32) largest = fmaxf(largest, in[i]);
    largest = warp_max(largest);
#pragma unroll
    for (int j = 0; j < KEPT; j++) {
        kept[j] = __expf(kept[j] - largest);
        sum += kept[j];
    }
    for (int i = KEPT * 32 + lane; i < columns; i += 32) sum += __expf(in[i] - largest);
    float factor = 1 / warp_sum(sum);
#pragma unroll
    for (int j = 0; j < KEPT; j++) {
        int i = j * 32 + lane;
        if (i < columns) out[i] = kept[j] * factor;
    }
    for (int i = KEPT * 32 + lane; i < columns; i += 32) out[i] = __expf(in[i] - largest) * factor;
}

extern "C" void solve(const float *in, float *out, int rows, int columns) {
    softmax<<<(rows + 3) / 4, 128>>>(in, out, rows, columns);
}
