// Register tiling over shared memory: a thread makes eight outputs, as two groups of four neighbours, and takes the
// weights four at a time, so that three 16-byte loads from shared memory serve 32 multiply-adds. The seven inputs that a
// group needs are kept in registers: what one step loaded last, the next uses first. Inputs and weights that do not
// exist are zeros in shared memory, so that the inner loop asks nothing.
#include <cuda_runtime.h>

constexpr int THREADS = 128;
constexpr int GROUPS = 2;
constexpr int PER_BLOCK = THREADS * GROUPS * 4;
constexpr int TAPS = 512;  // weights in shared memory at a time

__global__ void __launch_bounds__(THREADS) convolve(const float* __restrict__ input, const float* __restrict__ kernel,
                                                    float* __restrict__ output, int input_size, int kernel_size) {
    __shared__ __align__(16) float signal[PER_BLOCK + TAPS];
    __shared__ __align__(16) float weights[TAPS];
    int first = blockIdx.x * PER_BLOCK;
    float sum[GROUPS][4] = {};

    for (int tap = 0; tap < kernel_size; tap += TAPS) {
        int taps = min(TAPS, (kernel_size - tap + 3) / 4 * 4);
        __syncthreads();
        for (int i = threadIdx.x; i < taps; i += THREADS) weights[i] = tap + i < kernel_size ? kernel[tap + i] : 0.0f;
        for (int i = threadIdx.x; i < PER_BLOCK + taps; i += THREADS) {
            int from = first + tap + i;
            signal[i] = from < input_size ? input[from] : 0.0f;
        }
        __syncthreads();

        float4 low[GROUPS];
#pragma unroll
        for (int g = 0; g < GROUPS; g++)
            low[g] = *reinterpret_cast<const float4*>(&signal[(g * THREADS + threadIdx.x) * 4]);
        for (int k = 0; k < taps; k += 4) {
            float4 w = *reinterpret_cast<const float4*>(&weights[k]);
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                float4 high = *reinterpret_cast<const float4*>(&signal[(g * THREADS + threadIdx.x) * 4 + k + 4]);
                float x[7] = {low[g].x, low[g].y, low[g].z, low[g].w, high.x, high.y, high.z};
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[g][j] += x[j] * w.x + x[j + 1] * w.y + x[j + 2] * w.z + x[j + 3] * w.w;
                low[g] = high;
            }
        }
    }

    int size = input_size - kernel_size + 1;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int i = first + (g * THREADS + threadIdx.x) * 4 + j;
            if (i < size) output[i] = sum[g][j];
        }
    }
}

extern "C" void solve(const float* input, const float* kernel, float* output, int input_size, int kernel_size) {
    int size = input_size - kernel_size + 1;
    convolve<<<(size + PER_BLOCK - 1) / PER_BLOCK, THREADS>>>(input, kernel, output, input_size, kernel_size);
}
