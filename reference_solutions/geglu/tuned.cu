// Where both halves are aligned to 16 bytes, each thread loads four pieces of each before it computes and stores the
// first. Other sizes go number by number.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PER_THREAD = 4;

__device__ float gated(float value, float gate) {
    return value * 0.5f * gate * (1.0f + erff(gate * 0.70710678f));
}

__global__ void __launch_bounds__(THREADS)
    apply_quads(const float4* __restrict__ input, float4* __restrict__ output, int quads) {
    int first = blockIdx.x * (THREADS * PER_THREAD) + threadIdx.x;
    float4 a[PER_THREAD] = {}, b[PER_THREAD] = {};
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = first + j * THREADS;
        if (i < quads) {
            a[j] = input[i];
            b[j] = input[quads + i];
        }
    }
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = first + j * THREADS;
        float4 value = make_float4(gated(a[j].x, b[j].x), gated(a[j].y, b[j].y), gated(a[j].z, b[j].z), gated(a[j].w, b[j].w));
        if (i < quads) output[i] = value;
    }
}

__global__ void __launch_bounds__(THREADS)
    apply_singly(const float* __restrict__ input, float* __restrict__ output, int half) {
    int first = blockIdx.x * (THREADS * PER_THREAD) + threadIdx.x;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
        int i = first + j * THREADS;
        if (i < half) output[i] = gated(input[i], input[half + i]);
    }
}

extern "C" void solve(const float* input, float* output, int N) {
    int half = N / 2, per_block = THREADS * PER_THREAD;
    if (half % 4 == 0) {
        int quads = half / 4;
        apply_quads<<<(quads + per_block - 1) / per_block, THREADS>>>(reinterpret_cast<const float4*>(input),
                                                                      reinterpret_cast<float4*>(output), quads);
    } else {
        apply_singly<<<(half + per_block - 1) / per_block, THREADS>>>(input, output, half);
    }
}
