// Tiles of 64 x 64 results, 4 x 4 for each thread: eight words from shared memory serve sixteen times four products, and the
// sums of rows and columns are made once for four results.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int SIDE = 64, DEPTH = 32, RESULTS = 4, ACROSS = SIDE / RESULTS, THREADS = ACROSS * ACROSS;
constexpr int STRIDE = DEPTH + 4;  // nine words: neighbouring rows begin in different banks

__global__ void matmul(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                       float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    __shared__ __align__(4) int8_t a[SIDE][STRIDE], b[SIDE][STRIDE];
    int first_row = blockIdx.y * SIDE, first_column = blockIdx.x * SIDE;
    int x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    int sum[RESULTS][RESULTS] = {}, sum_A[RESULTS] = {}, sum_B[RESULTS] = {};
    for (int first = 0; first < K; first += DEPTH) {
        // Bytes that do not exist are zero, and count in none of the sums.
#pragma unroll
        for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
            int row = first_row + i / DEPTH, inner = first + i % DEPTH;
            a[i / DEPTH][i % DEPTH] = row < M && inner < K ? A[(size_t)row * K + inner] : 0;
            int column = first_column + i % SIDE;
            inner = first + i / SIDE;
            b[i % SIDE][i / SIDE] = inner < K && column < N ? B[(size_t)inner * N + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; k += 4) {
            int left[RESULTS], right[RESULTS];
#pragma unroll
            for (int i = 0; i < RESULTS; i++) {
                left[i] = *reinterpret_cast<const int*>(&a[y + i * ACROSS][k]);
                right[i] = *reinterpret_cast<const int*>(&b[x + i * ACROSS][k]);
                sum_A[i] = __dp4a(left[i], 0x01010101, sum_A[i]);
                sum_B[i] = __dp4a(right[i], 0x01010101, sum_B[i]);
            }
#pragma unroll
            for (int i = 0; i < RESULTS; i++)
#pragma unroll
                for (int j = 0; j < RESULTS; j++) sum[i][j] = __dp4a(left[i], right[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < RESULTS; i++) {
        int row = first_row + y + i * ACROSS;
#pragma unroll
        for (int j = 0; j < RESULTS; j++) {
            int column = first_column + x + j * ACROSS;
            if (row >= M || column >= N) continue;
            int whole = sum[i][j] + K * zero_point_A * zero_point_B - zero_point_B * sum_A[i] - zero_point_A * sum_B[j];
            float scaled = (float)whole * scale_A * scale_B / scale_C;
            // Cut off before the conversion too, which could not hold what lies far outside.
            int q = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + zero_point_C;
            C[(size_t)row * N + column] = (int8_t)max(-128, min(127, q));
        }
    }
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    dim3 blocks((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    matmul<<<blocks, THREADS>>>(A, B, C, M, N, K, scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C);
}
