// A thread makes a square of 4 x 4 results: eight numbers from shared memory serve sixteen multiply-adds.
#include <cuda_runtime.h>

constexpr int SIDE = 64;
constexpr int DEPTH = 16;
constexpr int RESULTS = 4;
constexpr int ACROSS = SIDE / RESULTS;
constexpr int THREADS = ACROSS * ACROSS;

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float a[DEPTH][SIDE + 1], b[DEPTH][SIDE];
    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    // A thread's columns, and its rows, lie ACROSS from one another: so neighbours read neighbouring words.
    int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    float sum[RESULTS][RESULTS] = {};
    for (int first = 0; first < N; first += DEPTH) {
#pragma unroll
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
            int row = first_row + i / DEPTH, inner = first + i % DEPTH;
            a[i % DEPTH][i / DEPTH] = row < M && inner < N ? A[(size_t)row * N + inner] : 0.0f;
            inner = first + i / SIDE;
            int column = first_column + i % SIDE;
            b[i / SIDE][i % SIDE] = inner < N && column < K ? B[(size_t)inner * K + column] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k++) {
            float left[RESULTS], right[RESULTS];
#pragma unroll
            for (int i = 0; i < RESULTS; i++) left[i] = a[k][y + i * ACROSS], right[i] = b[k][x + i * ACROSS];
#pragma unroll
            for (int i = 0; i < RESULTS; i++)
#pragma unroll
                for (int j = 0; j < RESULTS; j++) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < RESULTS; i++) {
        int row = first_row + y + i * ACROSS;
#pragma unroll
        for (int j = 0; j < RESULTS; j++) {
            int column = first_column + x + j * ACROSS;
            if (row < M && column < K) C[(size_t)row * K + column] = sum[i][j];
        }
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    multiply<<<dim3((K + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE), THREADS>>>(A, B, C, M, N, K);
}
