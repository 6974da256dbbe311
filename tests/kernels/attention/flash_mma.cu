// Flash attention with mma.sync: scores never leave the registers; those of a tile are, as they lie, the left factor of
// the second product. K by ldmatrix, V by its transposing form, both tiles two deep by cp.async.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64, TILE = 64;

__device__ __forceinline__ unsigned piece(unsigned tile, int row, int column) {
    return tile + (row * 8 + (column ^ (row & 7))) * 16;
}

__device__ __forceinline__ void load_tile(unsigned tile, const half *from) {
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int i = j * 128 + threadIdx.x;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(piece(tile, i / 8, i % 8)), "l"(from + i * 8) : "memory");
    }
}

__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned pack(float low, float high) {
    half2 pair = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned *>(&pair);
}

__global__ void __launch_bounds__(128) attend(const half *__restrict__ Q, const half *__restrict__ K, const half *__restrict__ V,
                                              float *__restrict__ out, int length) {
    __shared__ __align__(128) half memory[5][TILE * WIDTH];
    int lane = threadIdx.x % 32, first_row = threadIdx.x / 32 * 16;
    size_t head = (size_t)blockIdx.y * length * WIDTH;
    auto tile_at = [&](int i) { return (unsigned)__cvta_generic_to_shared(memory[i]); };
    auto fetch = [&](int first) {
        int buffer = first / TILE % 2;
        load_tile(tile_at(1 + buffer), K + head + first * WIDTH);
        load_tile(tile_at(3 + buffer), V + head + first * WIDTH);
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    load_tile(tile_at(0), Q + head + (size_t)blockIdx.x * TILE * WIDTH);
    fetch(0);
    unsigned q[4][4];
    float result[8][4] = {}, largest[2] = {-1e30f, -1e30f}, denominator[2] = {};
    const float scale = 0.125f * 1.44269504f;
    for (int first = 0; first < length; first += TILE) {
        asm volatile("cp.async.wait_all;" ::: "memory");
        __syncthreads();
        if (first + TILE < length) fetch(first + TILE);
        if (first == 0) {
#pragma unroll
            for (int d = 0; d < 4; d++) {
                unsigned from = piece(tile_at(0), first_row + lane % 16, d * 2 + lane / 16);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(q[d][0]), "=r"(q[d][1]), "=r"(q[d][2]), "=r"(q[d][3]) : "r"(from) : "memory");
            }
        }
        unsigned k_tile = tile_at(1 + first / TILE % 2), v_tile = tile_at(3 + first / TILE % 2);
        float score[8][4] = {};
#pragma unroll
        for (int n = 0; n < 4; n++) {
#pragma unroll
            for (int d = 0; d < 4; d++) {
                unsigned k[4], from = piece(k_tile, n * 16 + lane / 16 * 8 + lane % 8, d * 2 + lane / 8 % 2);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(k[0]), "=r"(k[1]), "=r"(k[2]), "=r"(k[3]) : "r"(from) : "memory");
                multiply_add(score[2 * n], q[d], k[0], k[1]);
                multiply_add(score[2 * n + 1], q[d], k[2], k[3]);
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            float next = largest[r];
#pragma unroll
            for (int n = 0; n < 8; n++) next = fmaxf(next, fmaxf(score[n][2 * r], score[n][2 * r + 1]) * scale);
            next = fmaxf(next, __shfl_xor_sync(0xffffffff, next, 1));
            next = fmaxf(next, __shfl_xor_sync(0xffffffff, next, 2));
            float rescale = exp2f(largest[r] - next);
            largest[r] = next;
            denominator[r] *= rescale;
#pragma unroll
            for (int n = 0; n < 8; n++) {
#pragma unroll
                for (int i = 2 * r; i < 2 * r + 2; i++) {
                    score[n][i] = exp2f(score[n][i] * scale - next);
                    denominator[r] += score[n][i];
                    result[n][i] *= rescale;
                }
            }
        }
#pragma unroll
        for (int n = 0; n < 4; n++) {
            unsigned p[4] = {pack(score[2 * n][0], score[2 * n][1]), pack(score[2 * n][2], score[2 * n][3]),
                             pack(score[2 * n + 1][0], score[2 * n + 1][1]), pack(score[2 * n + 1][2], score[2 * n + 1][3])};
#pragma unroll
            for (int d = 0; d < 4; d++) {
                unsigned v[4], from = piece(v_tile, n * 16 + lane % 16, d * 2 + lane / 16);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(from) : "memory");
                multiply_add(result[2 * d], p, v[0], v[1]);
                multiply_add(result[2 * d + 1], p, v[2], v[3]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        denominator[r] += __shfl_xor_sync(0xffffffff, denominator[r], 1);
        denominator[r] += __shfl_xor_sync(0xffffffff, denominator[r], 2);
        float factor = 1 / denominator[r];
        float *to = out + head + ((size_t)blockIdx.x * TILE + first_row + lane / 4 + 8 * r) * WIDTH;
#pragma unroll
        for (int n = 0; n < 8; n++) {
            *reinterpret_cast<float2 *>(&to[n * 8 + lane % 4 * 2]) =
                make_float2(result[n][2 * r] * factor, result[n][2 * r + 1] * factor);
        }
    }
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    attend<<<dim3(length / TILE, heads), 128>>>(Q, K, V, out, length);
}
