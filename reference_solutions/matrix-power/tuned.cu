// Powers by squaring: as many products as P has bits, and one more for each that is set, in place of P - 1. Each product
// goes in tiles of 64 x 64 through shared memory, which at these sizes give every multiprocessor a tile or two, with 4 x 4
// results per thread in registers. The next tiles come into registers while the present ones are multiplied, and go into
// the other half of a double buffer.
#include <cuda_runtime.h>

template <int SIDE, int DEPTH, int PER_THREAD>
__global__ void __launch_bounds__((SIDE / PER_THREAD) * (SIDE / PER_THREAD))
    multiply(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int N) {
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
            next_a[j] = row < N && inner < N ? A[(size_t)row * N + inner] : 0.0f;
            int column = first_column + i % SIDE;
            inner = step * DEPTH + i / SIDE;
            next_b[j] = inner < N && column < N ? B[(size_t)inner * N + column] : 0.0f;
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
    int steps = (N + DEPTH - 1) / DEPTH;
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
            if (row < N && column < N) C[(size_t)row * N + column] = sum[i][j];
        }
    }
}

void product(const float* A, const float* B, float* C, int N) {
    dim3 blocks((N + 63) / 64, (N + 63) / 64);
    multiply<64, 16, 4><<<blocks, 256>>>(A, B, C, N);
}

extern "C" void solve(const float* input, float* output, int N, int P) {
    size_t size = (size_t)N * N;
    if (P == 1) {
        cudaMemcpyAsync(output, input, size * sizeof(float), cudaMemcpyDeviceToDevice);
        return;
    }
    float* room;
    cudaMalloc(&room, 2 * size * sizeof(float));
    // From the highest bit of P downwards: square, and multiply by the input where the bit is set. The products take turns
    // in the room; only the last one goes to the output.
    const float* power = input;
    int bit = 30;
    while (!(P >> bit & 1)) bit--;
    int products = 0;
    for (int b = bit - 1; b >= 0; b--) products += 1 + (P >> b & 1);
    int turn = 0;
    auto step = [&](const float* factor) {
        float* result = --products == 0 ? output : room + turn * size;
        product(power, factor, result, N);
        power = result;
        turn = 1 - turn;
    };
    for (bit--; bit >= 0; bit--) {
        step(power);
        if (P >> bit & 1) step(input);
    }
    cudaFree(room);
}
