// Tensor cores on halves: a block of threads makes 128 x 128 outputs, each of its 8 warps 32 x 64. Tiles become halves, exactly, on the way
// into shared memory; the next ones travel to registers while these are multiplied. After each 128 columns the sums of the block are
// scaled and added to those of all blocks.
#include <cstdint>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

constexpr int TILE = 128, DEPTH = 32, STRIDE = DEPTH + 8, BLOCK = 128;

__device__ void multiply(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// 16 numbers of a row, or zeros.
__device__ uint4 fetch(const __nv_fp8_e4m3* matrix, int row, int rows, int k, int K) {
    if (row >= rows || k >= K) return make_uint4(0, 0, 0, 0);
    return *reinterpret_cast<const uint4*>(matrix + (size_t)row * K + k);
}

__device__ void widen(__half* to, uint4 from) {
    uint32_t words[4] = {from.x, from.y, from.z, from.w};
    __align__(16) __half2_raw pairs[8];
#pragma unroll
    for (int i = 0; i < 8; i++) pairs[i] = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)(words[i / 2] >> (i % 2 * 16)), __NV_E4M3);
    reinterpret_cast<uint4*>(to)[0] = reinterpret_cast<const uint4*>(pairs)[0];
    reinterpret_cast<uint4*>(to)[1] = reinterpret_cast<const uint4*>(pairs)[1];
}

__global__ void __launch_bounds__(256, 1)
    product(const __nv_fp8_e4m3* __restrict__ A, const float* __restrict__ A_scales, const __nv_fp8_e4m3* __restrict__ B,
            const float* __restrict__ B_scales, half* __restrict__ C, int M, int N, int K) {
    __shared__ __align__(16) __half as[2][TILE][STRIDE], bs[2][TILE][STRIDE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE, blocks = (K + BLOCK - 1) / BLOCK;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp / 2 * 32 + lane / 4, across = warp % 2 * 64, two = lane % 4 * 2;
    int line = threadIdx.x / 2, part = threadIdx.x % 2 * 16;
    float of_block[2][8][4] = {}, sum[2][8][4] = {};
    uint4 a_next = fetch(A, row + line, M, part, K), b_next = fetch(B, column + line, N, part, K);
    for (int k0 = 0, buffer = 0; k0 < K; k0 += DEPTH, buffer ^= 1) {
        widen(&as[buffer][line][part], a_next);
        widen(&bs[buffer][line][part], b_next);
        // Nobody writes a buffer that others still read: between lies the barrier of the step with the other buffer.
        __syncthreads();
        a_next = fetch(A, row + line, M, k0 + DEPTH + part, K);
        b_next = fetch(B, column + line, N, k0 + DEPTH + part, K);
#pragma unroll
        for (int k = 0; k < DEPTH; k += 16) {
            uint32_t left[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                for (int p = 0; p < 4; p++) {
                    left[i][p] = *reinterpret_cast<const uint32_t*>(&as[buffer][down + 16 * i + p % 2 * 8][k + p / 2 * 8 + two]);
                }
            }
#pragma unroll
            for (int j = 0; j < 8; j++) {
                const __half* right = &bs[buffer][across + 8 * j + lane / 4][k + two];
                uint32_t b0 = *reinterpret_cast<const uint32_t*>(right), b1 = *reinterpret_cast<const uint32_t*>(right + 8);
                for (int i = 0; i < 2; i++) multiply(of_block[i][j], left[i], b0, b1);
            }
        }
        if ((k0 + DEPTH) % BLOCK == 0 || k0 + DEPTH >= K) {
            int b = k0 / BLOCK;
            float of_columns = B_scales[(size_t)blockIdx.x * blocks + b];
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int half_of = 0; half_of < 2; half_of++) {
                    int r = row + down + 16 * i + 8 * half_of;
                    float scale = r < M ? A_scales[(size_t)r * blocks + b] * of_columns : 0.0f;
#pragma unroll
                    for (int j = 0; j < 8; j++) {
                        for (int c = 2 * half_of; c < 2 * half_of + 2; c++) {
                            sum[i][j][c] = fmaf(scale, of_block[i][j][c], sum[i][j][c]);
                            of_block[i][j][c] = 0.0f;
                        }
                    }
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 2; i++) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
#pragma unroll
            for (int c = 0; c < 4; c++) {
                int r = row + down + 16 * i + c / 2 * 8, n = column + across + 8 * j + two + c % 2;
                if (r < M && n < N) C[(size_t)r * N + n] = __float2half(sum[i][j][c]);
            }
        }
    }
}

extern "C" void solve(const __nv_fp8_e4m3* A, const float* A_scales, const __nv_fp8_e4m3* B, const float* B_scales, half* C, int M, int N,
                      int K) {
    product<<<dim3((N + TILE - 1) / TILE, (M + TILE - 1) / TILE), 256>>>(A, A_scales, B, B_scales, C, M, N, K);
}
