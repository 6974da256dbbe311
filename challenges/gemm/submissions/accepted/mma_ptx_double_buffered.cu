// mma.sync and ldmatrix in PTX, tiles by cp.async into two buffers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <stdint.h>
#define CP_ASYNC_CG(dst, src, Bytes) \
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], %2;\n" ::"r"(dst), "l"(src), "n"(Bytes))
#define CP_ASYNC_COMMIT_GROUP() asm volatile("cp.async.commit_group;\n" ::)
#define CP_ASYNC_WAIT_GROUP(n) asm volatile("cp.async.wait_group %0;\n" ::"n"(n))
#define LDMATRIX_X4(R0, R1, R2, R3, addr)                                             \
    asm volatile("ldmatrix.sync.aligned.x4.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];\n" \
                 : "=r"(R0), "=r"(R1), "=r"(R2), "=r"(R3)                             \
                 : "r"(addr))
#define LDMATRIX_X2_T(R0, R1, addr) \
    asm volatile("ldmatrix.sync.aligned.x2.trans.m8n8.shared.b16 {%0, %1}, [%2];\n" : "=r"(R0), "=r"(R1) : "r"(addr))
constexpr int BM = 64, BN = 64, BK = 32, PAD = 8;
__global__ void __launch_bounds__(128) hgemm(const half* __restrict__ A, const half* __restrict__ B,
                                             half* __restrict__ C, int M, int N, int K, float alpha, float beta) {
    __shared__ __align__(128) half sA[2][BM][BK + PAD];
    __shared__ __align__(128) half sB[2][BK][BN + PAD];
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31;
    const int bm = blockIdx.y * BM, bn = blockIdx.x * BN;
    const int wm = (warp & 1) * 32, wn = (warp >> 1) * 32;
    float acc[2][4][4] = {};
    auto load = [&](int st, int k0) {
        for (int i = tid; i < BM * BK / 8; i += 128) {
            int r = i / (BK / 8), c = (i % (BK / 8)) * 8;
            if (bm + r < M && k0 + c < K) {
                uint32_t d = (uint32_t)__cvta_generic_to_shared(&sA[st][r][c]);
                CP_ASYNC_CG(d, A + (size_t)(bm + r) * K + k0 + c, 16);
            } else
                *(uint4*)&sA[st][r][c] = make_uint4(0, 0, 0, 0);
        }
        for (int i = tid; i < BK * BN / 8; i += 128) {
            int r = i / (BN / 8), c = (i % (BN / 8)) * 8;
            if (k0 + r < K && bn + c < N) {
                uint32_t d = (uint32_t)__cvta_generic_to_shared(&sB[st][r][c]);
                CP_ASYNC_CG(d, B + (size_t)(k0 + r) * N + bn + c, 16);
            } else
                *(uint4*)&sB[st][r][c] = make_uint4(0, 0, 0, 0);
        }
        CP_ASYNC_COMMIT_GROUP();
    };
    const int nk = (K + BK - 1) / BK;
    load(0, 0);
    for (int t = 0; t < nk; t++) {
        if (t + 1 < nk) {
            load((t + 1) & 1, (t + 1) * BK);
            CP_ASYNC_WAIT_GROUP(1);
        } else {
            CP_ASYNC_WAIT_GROUP(0);
        }
        __syncthreads();
        const int st = t & 1;
#pragma unroll
        for (int kk = 0; kk < BK; kk += 16) {
            uint32_t ra[2][4], rb[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                uint32_t ad =
                    (uint32_t)__cvta_generic_to_shared(&sA[st][wm + i * 16 + lane % 16][kk + (lane / 16) * 8]);
                LDMATRIX_X4(ra[i][0], ra[i][1], ra[i][2], ra[i][3], ad);
            }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t ad = (uint32_t)__cvta_generic_to_shared(&sB[st][kk + lane % 16][wn + j * 8]);
                LDMATRIX_X2_T(rb[j][0], rb[j][1], ad);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile(
                        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                        "{%0,%1,%2,%3};\n"
                        : "+f"(acc[i][j][0]), "+f"(acc[i][j][1]), "+f"(acc[i][j][2]), "+f"(acc[i][j][3])
                        : "r"(ra[i][0]), "r"(ra[i][1]), "r"(ra[i][2]), "r"(ra[i][3]), "r"(rb[j][0]), "r"(rb[j][1]));
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int h = 0; h < 2; h++) {
                int r = bm + wm + i * 16 + lane / 4 + h * 8, c = bn + wn + j * 8 + (lane % 4) * 2;
                if (r < M && c < N) {
                    half2* p = reinterpret_cast<half2*>(&C[(size_t)r * N + c]);
                    float2 o = __half22float2(*p);
                    *p = __float22half2_rn(
                        make_float2(alpha * acc[i][j][h * 2] + beta * o.x, alpha * acc[i][j][h * 2 + 1] + beta * o.y));
                }
            }
}
extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    hgemm<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM), 128>>>(A, B, C, M, N, K, alpha, beta);
}
