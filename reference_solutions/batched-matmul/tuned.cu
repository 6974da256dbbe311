// Tiles in shared memory, a square of results per thread in registers, the batch as third dimension of the grid. A block
// makes a tile of 128 x 128 of one product (64 x 64 where the matrices or the batch are small), each thread 8 x 8 or 4 x 4
// of it, in groups of four so that shared memory is read 16 bytes at a time without bank conflicts. The next tiles come
// into registers while the present ones are multiplied, and go into the other half of a double buffer.
#include <cuda_runtime.h>

template <int SIDE, int DEPTH, int PER_THREAD>
__global__ void __launch_bounds__((SIDE / PER_THREAD) * (SIDE / PER_THREAD))
    multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
    A += (size_t)blockIdx.z * M * K;
    B += (size_t)blockIdx.z * K * N;
    C += (size_t)blockIdx.z * M * N;
    constexpr int ACROSS = SIDE / PER_THREAD;  // threads along each side of a tile
    constexpr int THREADS = ACROSS * ACROSS;
    constexpr int LOADS = SIDE * DEPTH / THREADS;
    constexpr int GROUPS = PER_THREAD / 4;
    // Four more than a row: the transposing stores of A meet no bank conflict, and rows stay aligned to 16 bytes.
    __shared__ __align__(16) float a[2][DEPTH][SIDE + 4];
    __shared__ __align__(16) float b[2][DEPTH][SIDE];

    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int thread_row = threadIdx.x / ACROSS * 4, thread_column = threadIdx.x % ACROSS * 4;
    float next_a[LOADS], next_b[LOADS];

    auto load = [&](int step) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            int i = j * THREADS + threadIdx.x;
            int row = first_row + i / DEPTH, inner = step * DEPTH + i % DEPTH;
            next_a[j] = row < M && inner < K ? A[(size_t)row * K + inner] : 0.0f;
            int column = first_column + i % SIDE;
            inner = step * DEPTH + i / SIDE;
            next_b[j] = inner < K && column < N ? B[(size_t)inner * N + column] : 0.0f;
        }
    };
    auto store = [&](int half) {
#pragma unroll
        for (int j = 0; j < LOADS; j++) {
            int i = j * THREADS + threadIdx.x;
            a[half][i % DEPTH][i / DEPTH] = next_a[j];
            b[half][i / SIDE][i % SIDE] = next_b[j];
        }
    };

    float sum[PER_THREAD][PER_THREAD] = {};
    int steps = (K + DEPTH - 1) / DEPTH;
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
            if (row < M && column < N) C[(size_t)row * N + column] = sum[i][j];
        }
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int BATCH, int M, int N, int K) {
    dim3 large((N + 127) / 128, (M + 127) / 128, BATCH), small((N + 63) / 64, (M + 63) / 64, BATCH);
    // Large tiles where they are at least half full and there are enough of them.
    if (M > 64 && N > 64 && large.x * large.y * large.z >= 8) {
        multiply<128, 8, 8><<<large, 256>>>(A, B, C, M, N, K);
    } else {
        multiply<64, 16, 4><<<small, 256>>>(A, B, C, M, N, K);
    }
}
