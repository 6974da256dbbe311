// mma.sync fed by ldmatrix from padded tiles, 64 x 64 of C to a block, loads for the next step kept in registers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 32, THREADS = 128;

__device__ unsigned shared_address(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

__global__ void __launch_bounds__(THREADS)
    gemm(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
    __shared__ __align__(16) half a[TILE][DEPTH + 8], b[DEPTH][TILE + 8];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    int4 next_a[2], next_b[2];
    auto fetch = [&](int step) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int i = j * THREADS + t;
            next_a[j] = *reinterpret_cast<const int4 *>(&A[(first_row + i / 4) * k + step + i % 4 * 8]);
            next_b[j] = *reinterpret_cast<const int4 *>(&B[(step + i / 8) * n + first_column + i % 8 * 8]);
        }
    };
    float c[2][4][4] = {};
    fetch(0);
    for (int step = 0; step < k; step += DEPTH) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int i = j * THREADS + t;
            *reinterpret_cast<int4 *>(&a[i / 4][i % 4 * 8]) = next_a[j];
            *reinterpret_cast<int4 *>(&b[i / 8][i % 8 * 8]) = next_b[j];
        }
        __syncthreads();
        if (step + DEPTH < k) fetch(step + DEPTH);
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16) {
            unsigned down[2][4], across[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                unsigned from = shared_address(&a[warp_row + i * 16 + lane % 16][d + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(down[i][0]), "=r"(down[i][1]), "=r"(down[i][2]), "=r"(down[i][3]) : "r"(from));
                from = shared_address(&b[d + lane % 16][warp_column + i * 16 + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(across[i][0]), "=r"(across[i][1]), "=r"(across[i][2]), "=r"(across[i][3]) : "r"(from));
            }
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(c[i][j][0]), "+f"(c[i][j][1]), "+f"(c[i][j][2]), "+f"(c[i][j][3])
                                 : "r"(down[i][0]), "r"(down[i][1]), "r"(down[i][2]), "r"(down[i][3]),
                                   "r"(across[j / 2][j % 2 * 2]), "r"(across[j / 2][j % 2 * 2 + 1]));
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = first_row + warp_row + i * 16 + lane / 4, column = first_column + warp_column + j * 8 + lane % 4 * 2;
            *reinterpret_cast<float2 *>(&C[row * n + column]) = make_float2(c[i][j][0], c[i][j][1]);
            *reinterpret_cast<float2 *>(&C[(row + 8) * n + column]) = make_float2(c[i][j][2], c[i][j][3]);
        }
    }
}

extern "C" void solve(const half *A, const half *B, float *C, int m, int n, int k) {
    gemm<<<dim3(n / TILE, m / TILE), THREADS>>>(A, B, C, m, n, k);
}
