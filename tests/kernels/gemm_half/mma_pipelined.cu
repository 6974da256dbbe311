// mma.sync and ldmatrix with three stages of cp.async; 16-byte pieces of a row are swizzled instead of padded.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 64, DEPTH = 32, THREADS = 128, STAGES = 3;
constexpr int A_BYTES = TILE * DEPTH * 2, STAGE_BYTES = 2 * A_BYTES;

// A row of A's tile has four pieces (two rows to 128 bytes), one of B's has eight.
__device__ __forceinline__ unsigned a_piece(unsigned tile, int row, int piece) {
    return tile + (row * 4 + (piece ^ (row / 2 & 3))) * 16;
}
__device__ __forceinline__ unsigned b_piece(unsigned tile, int row, int piece) {
    return tile + (row * 8 + (piece ^ (row & 7))) * 16;
}

__device__ __forceinline__ void copy_async(unsigned to, const half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__global__ void __launch_bounds__(THREADS)
    gemm(const half *__restrict__ A, const half *__restrict__ B, float *__restrict__ C, int m, int n, int k) {
    __shared__ __align__(128) unsigned char memory[STAGES * STAGE_BYTES];
    unsigned tiles = (unsigned)__cvta_generic_to_shared(memory);
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32, steps = k / DEPTH;
    auto fetch = [&](int step) {
        unsigned tile = tiles + step % STAGES * STAGE_BYTES;
#pragma unroll
        for (int j = 0; j < 2; j++) {
            int i = j * THREADS + t;
            copy_async(a_piece(tile, i / 4, i % 4), &A[(first_row + i / 4) * k + step * DEPTH + i % 4 * 8]);
            copy_async(b_piece(tile + A_BYTES, i / 8, i % 8), &B[(step * DEPTH + i / 8) * n + first_column + i % 8 * 8]);
        }
    };
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++) {
        if (step < steps) fetch(step);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    float c[2][4][4] = {};
    for (int step = 0; step < steps; step++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (step + STAGES - 1 < steps) fetch(step + STAGES - 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        unsigned tile = tiles + step % STAGES * STAGE_BYTES;
#pragma unroll
        for (int d = 0; d < DEPTH; d += 16) {
            unsigned down[2][4], across[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                unsigned from = a_piece(tile, warp_row + i * 16 + lane % 16, d / 8 + lane / 16);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(down[i][0]), "=r"(down[i][1]), "=r"(down[i][2]), "=r"(down[i][3]) : "r"(from) : "memory");
                from = b_piece(tile + A_BYTES, d + lane % 16, (warp_column + i * 16) / 8 + lane / 16);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(across[i][0]), "=r"(across[i][1]), "=r"(across[i][2]), "=r"(across[i][3]) : "r"(from) : "memory");
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
