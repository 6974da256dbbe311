// Bytes stay bytes: __dp4a multiplies four pairs and adds them up. B is turned over in shared memory, so that the four
// bytes along K make a word. Zero points stay out of the product:
//     sum (A - zA)(B - zB) = sum A B - zB sum A - zA sum B + K zA zB.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int SIDE = 32;
constexpr int STRIDE = SIDE + 4;  // nine words: neighbouring rows begin in different banks

__global__ void matmul(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                       float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    __shared__ __align__(4) int8_t a[SIDE][STRIDE], b[SIDE][STRIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * SIDE + x, row = blockIdx.y * SIDE + y, sum = 0, sum_A = 0, sum_B = 0;
    for (int first = 0; first < K; first += SIDE) {
        // Bytes that do not exist are zero, and count in none of the sums.
        a[y][x] = row < M && first + x < K ? A[(size_t)row * K + first + x] : 0;
        b[x][y] = first + y < K && column < N ? B[(size_t)(first + y) * N + column] : 0;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k += 4) {
            int left = *reinterpret_cast<const int*>(&a[y][k]), right = *reinterpret_cast<const int*>(&b[x][k]);
            sum = __dp4a(left, right, sum);
            sum_A = __dp4a(left, 0x01010101, sum_A);
            sum_B = __dp4a(right, 0x01010101, sum_B);
        }
        __syncthreads();
    }
    if (row >= M || column >= N) return;
    sum += K * zero_point_A * zero_point_B - zero_point_B * sum_A - zero_point_A * sum_B;
    float scaled = (float)sum * scale_A * scale_B / scale_C;
    // Cut off before the conversion too, which could not hold what lies far outside.
    int q = (int)rintf(fminf(fmaxf(scaled, -1e4f), 1e4f)) + zero_point_C;
    C[(size_t)row * N + column] = (int8_t)max(-128, min(127, q));
}

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B,
                      float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
    dim3 blocks((N + SIDE - 1) / SIDE, (M + SIDE - 1) / SIDE);
    matmul<<<blocks, dim3(SIDE, SIDE)>>>(A, B, C, M, N, K, scale_A, scale_B, scale_C, zero_point_A, zero_point_B, zero_point_C);
}
