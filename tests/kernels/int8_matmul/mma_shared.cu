// mma.sync m16n8k32 with both tiles in padded shared memory, read by ldmatrix as if they were halves.
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 32, STRIDE = DEPTH + 16;

__global__ void __launch_bounds__(128)
    multiply(const signed char *__restrict__ A, const signed char *__restrict__ B, int *__restrict__ C, int n, int k) {
    __shared__ __align__(16) signed char a[2][TILE][STRIDE], b[2][TILE][STRIDE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32, line = t / 2, piece = t % 2 * 16;
    int c[2][4][4] = {};
    int4 next_a = *reinterpret_cast<const int4 *>(&A[(first_row + line) * k + piece]);
    int4 next_b = *reinterpret_cast<const int4 *>(&B[(first_column + line) * k + piece]);
    for (int step = 0, buffer = 0; step < k; step += DEPTH, buffer ^= 1) {
        *reinterpret_cast<int4 *>(&a[buffer][line][piece]) = next_a;
        *reinterpret_cast<int4 *>(&b[buffer][line][piece]) = next_b;
        // One barrier to a step is enough: the other buffer was read before the last one.
        __syncthreads();
        if (step + DEPTH < k) {
            next_a = *reinterpret_cast<const int4 *>(&A[(first_row + line) * k + step + DEPTH + piece]);
            next_b = *reinterpret_cast<const int4 *>(&B[(first_column + line) * k + step + DEPTH + piece]);
        }
        unsigned down[2][4], across[2][4];
#pragma unroll
        for (int i = 0; i < 2; i++) {
            unsigned from = (unsigned)__cvta_generic_to_shared(&a[buffer][warp_row + i * 16 + lane % 16][lane / 16 * 16]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(down[i][0]), "=r"(down[i][1]), "=r"(down[i][2]), "=r"(down[i][3]) : "r"(from) : "memory");
            from = (unsigned)__cvta_generic_to_shared(&b[buffer][warp_column + i * 16 + lane / 16 * 8 + lane % 8][lane / 8 % 2 * 16]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(across[i][0]), "=r"(across[i][1]), "=r"(across[i][2]), "=r"(across[i][3]) : "r"(from) : "memory");
        }
#pragma unroll
        for (int i = 0; i < 2; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                             "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                             : "+r"(c[i][j][0]), "+r"(c[i][j][1]), "+r"(c[i][j][2]), "+r"(c[i][j][3])
                             : "r"(down[i][0]), "r"(down[i][1]), "r"(down[i][2]), "r"(down[i][3]),
                               "r"(across[j / 2][j % 2 * 2]), "r"(across[j / 2][j % 2 * 2 + 1]));
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int *to = C + (first_row + warp_row + i * 16 + lane / 4) * n + first_column + warp_column + j * 8 + lane % 4 * 2;
            *reinterpret_cast<int2 *>(to) = make_int2(c[i][j][0], c[i][j][1]);
            *reinterpret_cast<int2 *>(to + 8 * n) = make_int2(c[i][j][2], c[i][j][3]);
        }
    }
}

extern "C" void solve(const signed char *A, const signed char *B, int *C, int m, int n, int k) {
    multiply<<<dim3(n / TILE, m / TILE), 128>>>(A, B, C, n, k);
}
