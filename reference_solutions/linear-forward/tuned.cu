// Tiles in shared memory, a square of outputs per thread in registers, the bias added as the outputs are written. A block
// makes a tile of 128 x 128 outputs (64 x 64 where that gives too few blocks), each thread 8 x 8 or 4 x 4 of them. Both
// matrices are read along their rows and stored transposed into shared memory, whose rows are padded so that neither
// those stores nor the 16-byte loads meet bank conflicts. The next tiles come into registers while the present ones are
// multiplied, and go into the other half of a double buffer: one barrier per step.
#include <cuda_runtime.h>

template <int SIDE, int DEPTH, int PER_THREAD>
__global__ void __launch_bounds__((SIDE / PER_THREAD) * (SIDE / PER_THREAD))
    linear(const float* __restrict__ input, const float* __restrict__ weight, const float* __restrict__ bias,
           float* __restrict__ output, int batch, int in_features, int out_features) {
    constexpr int ACROSS = SIDE / PER_THREAD;  // threads along each side of a tile
    constexpr int THREADS = ACROSS * ACROSS;
    constexpr int LOADS = SIDE * DEPTH / THREADS;
    constexpr int GROUPS = PER_THREAD / 4;
    // Four more than a row: the transposing stores meet no bank conflict, and rows stay aligned to 16 bytes.
    __shared__ __align__(16) float a[2][DEPTH][SIDE + 4];
    __shared__ __align__(16) float b[2][DEPTH][SIDE + 4];

    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int thread_row = threadIdx.x / ACROSS * 4, thread_column = threadIdx.x % ACROSS * 4;
    float next_a[LOADS], next_b[LOADS];

    auto load = [&](int step) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            int i = j * THREADS + threadIdx.x;
            int inner = step * DEPTH + i % DEPTH;
            int row = first_row + i / DEPTH, column = first_column + i / DEPTH;
            next_a[j] = row < batch && inner < in_features ? input[(size_t)row * in_features + inner] : 0.0f;
            next_b[j] = column < out_features && inner < in_features ? weight[(size_t)column * in_features + inner] : 0.0f;
        }
    };
    auto store = [&](int half) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            int i = j * THREADS + threadIdx.x;
            a[half][i % DEPTH][i / DEPTH] = next_a[j];
            b[half][i % DEPTH][i / DEPTH] = next_b[j];
        }
    };

    float sum[PER_THREAD][PER_THREAD] = {};
    int steps = (in_features + DEPTH - 1) / DEPTH;
    load(0);
    store(0);
    __syncthreads();
    for (int step = 0; step < steps; step++) {
        int half = step % 2;
        if (step + 1 < steps) load(step + 1);
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float left[PER_THREAD], right[PER_THREAD];
#pragma unroll
            for (int g = 0; g < GROUPS; g++) {
                float4 l = *reinterpret_cast<const float4*>(&a[half][k][thread_row + g * (SIDE / GROUPS)]);
                float4 r = *reinterpret_cast<const float4*>(&b[half][k][thread_column + g * (SIDE / GROUPS)]);
                left[4 * g] = l.x, left[4 * g + 1] = l.y, left[4 * g + 2] = l.z, left[4 * g + 3] = l.w;
                right[4 * g] = r.x, right[4 * g + 1] = r.y, right[4 * g + 2] = r.z, right[4 * g + 3] = r.w;
            }
#pragma unroll
            for (int i = 0; i < PER_THREAD; i++)
#pragma unroll
                for (int j = 0; j < PER_THREAD; j++) sum[i][j] += left[i] * right[j];
        }
        // The other half was last read before the barrier of the step before.
        if (step + 1 < steps) store(1 - half);
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
        int row = first_row + thread_row + i / 4 * (SIDE / GROUPS) + i % 4;
#pragma unroll
        for (int j = 0; j < PER_THREAD; j++) {
            int column = first_column + thread_column + j / 4 * (SIDE / GROUPS) + j % 4;
            if (row < batch && column < out_features)
                output[(size_t)row * out_features + column] = sum[i][j] + bias[column];
        }
    }
}

extern "C" void solve(const float* input, const float* weight, const float* bias, float* output, int batch,
                      int in_features, int out_features) {
    dim3 large((out_features + 127) / 128, (batch + 127) / 128), small((out_features + 63) / 64, (batch + 63) / 64);
    if (large.x * large.y >= 16) {
        linear<128, 8, 8><<<large, 256>>>(input, weight, bias, output, batch, in_features, out_features);
    } else {
        linear<64, 16, 4><<<small, 256>>>(input, weight, bias, output, batch, in_features, out_features);
    }
}
