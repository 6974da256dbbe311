// Flash attention on tensor cores. A block of four warps takes 64 queries of a head and walks over tiles of 64 keys in shared memory. Heads are the
// fastest index of the grid, so that blocks that run at a time read the same keys; late tiles, which see most, come first.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

constexpr int ROWS = 64, KEYS = 64, THREADS = 128;
constexpr float LOG2_E = 1.4426950408889634f;

__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ void load_turned(unsigned (&r)[4], const half* from) {
    unsigned address = (unsigned)__cvta_generic_to_shared(from);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address));
}

__device__ __forceinline__ unsigned pair(float low, float high) {
    half2 both = __floats2half2_rn(low, high);
    return *reinterpret_cast<unsigned*>(&both);
}

// Rows `first` ... first + 63 of a matrix with `count` rows into a tile, zeros where there are none.
template <int WIDTH>
__device__ void load_tile(half (*tile)[WIDTH + 8], const half* matrix, int first, int count, size_t stride, int d) {
    for (int i = threadIdx.x; i < KEYS * WIDTH / 8; i += THREADS) {
        int row = i / (WIDTH / 8), column = i % (WIDTH / 8) * 8;
        bool there = first + row < count && column < d;
        uint4 value = there ? *reinterpret_cast<const uint4*>(matrix + (first + row) * stride + column) : make_uint4(0, 0, 0, 0);
        *reinterpret_cast<uint4*>(&tile[row][column]) = value;
    }
}

// 64 queries from number `query` on of a head with `queries` of them, 16 a warp, over keys first ... end - 1. Scores, weights and sums stay in
// registers: a lane has rows lane/4 and lane/4 + 8 of its warp, and of eight columns 2 (lane % 4) and the next one.
template <int WIDTH>
__device__ void attend(const half* Q, const half* K, const half* V, half* output, int query, int queries, size_t q_stride, int first, int end,
                       size_t stride, int d) {
    __shared__ __align__(16) half keys[KEYS][WIDTH + 8];
    __shared__ __align__(16) half values[KEYS][WIDTH + 8];
    int lane = threadIdx.x % 32, group = lane / 4, two = lane % 4 * 2;
    int row = query + threadIdx.x / 32 * 16 + group;
    unsigned q[WIDTH / 16][4];
#pragma unroll
    for (int k = 0; k < WIDTH / 16; k++) {
#pragma unroll
        for (int part = 0; part < 4; part++) {
            int at = row + part % 2 * 8, column = 16 * k + part / 2 * 8 + two;
            bool there = at < queries && column < d;
            q[k][part] = there ? *reinterpret_cast<const unsigned*>(Q + at * q_stride + column) : 0u;
        }
    }
    float result[WIDTH / 8][4] = {}, largest[2] = {-INFINITY, -INFINITY}, total[2] = {};
    float scale = LOG2_E / sqrtf((float)d);
    for (int start = first / KEYS * KEYS; start < end; start += KEYS) {
        __syncthreads();
        load_tile<WIDTH>(keys, K, start, end, stride, d);
        load_tile<WIDTH>(values, V, start, end, stride, d);
        __syncthreads();
        float score[KEYS / 8][4] = {};
#pragma unroll
        for (int k = 0; k < WIDTH / 16; k++) {
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
                const half* key = &keys[8 * j + group][16 * k + two];
                multiply(score[j], q[k], *reinterpret_cast<const unsigned*>(key), *reinterpret_cast<const unsigned*>(key + 8));
            }
        }
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int at = row + 8 * r;
            float top = largest[r];
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int c = 2 * r; c < 2 * r + 2; c++) {
                    int key = start + 8 * j + two + c % 2;
                    score[j][c] = key <= at && key < end ? score[j][c] * scale : -INFINITY;
                    top = fmaxf(top, score[j][c]);
                }
            }
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
            top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
            // A row that has seen no key yet has no maximum: all its weights are 0.
            float base = top == -INFINITY ? 0.0f : top, rescale = exp2f(largest[r] - base);
            largest[r] = top;
            total[r] *= rescale;
#pragma unroll
            for (int n = 0; n < WIDTH / 8; n++) {
                result[n][2 * r] *= rescale;
                result[n][2 * r + 1] *= rescale;
            }
#pragma unroll
            for (int j = 0; j < KEYS / 8; j++) {
#pragma unroll
                for (int c = 2 * r; c < 2 * r + 2; c++) {
                    score[j][c] = exp2f(score[j][c] - base);
                    total[r] += score[j][c];
                }
            }
        }
#pragma unroll
        for (int k = 0; k < KEYS / 16; k++) {
            // The layout in which a product leaves its sums is that in which the next one takes its left factor.
            unsigned weight[4] = {pair(score[2 * k][0], score[2 * k][1]), pair(score[2 * k][2], score[2 * k][3]),
                                  pair(score[2 * k + 1][0], score[2 * k + 1][1]), pair(score[2 * k + 1][2], score[2 * k + 1][3])};
#pragma unroll
            for (int n = 0; n < WIDTH / 8; n += 2) {
                unsigned v[4];
                load_turned(v, &values[16 * k + lane % 16][8 * n + lane / 16 * 8]);
                multiply(result[n], weight, v[0], v[1]);
                multiply(result[n + 1], weight, v[2], v[3]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 1);
        total[r] += __shfl_xor_sync(0xffffffffu, total[r], 2);
        int at = row + 8 * r;
        if (at >= queries) continue;
#pragma unroll
        for (int n = 0; n < WIDTH / 8; n++) {
            int column = 8 * n + two;
            unsigned both = pair(result[n][2 * r] / total[r], result[n][2 * r + 1] / total[r]);
            if (column < d) *reinterpret_cast<unsigned*>(output + at * q_stride + column) = both;
        }
    }
}

template <int WIDTH>
__global__ void __launch_bounds__(THREADS) attend_tiles(const half* __restrict__ Q, const half* __restrict__ K, const half* __restrict__ V,
                                                        half* __restrict__ output, int heads, int length, int d) {
    int query = (gridDim.y - 1 - blockIdx.y) * ROWS;
    size_t keys = (size_t)blockIdx.z * length * d, at = ((size_t)blockIdx.z * heads + blockIdx.x) * length * d;
    attend<WIDTH>(Q + at, K + keys, V + keys, output + at, query, length, d, 0, min(length, query + ROWS), d, d);
}

extern "C" void solve(const half* Q, const half* K, const half* V, half* output, int batch, int heads, int seq_len, int head_dim) {
    auto kernel = head_dim <= 64 ? attend_tiles<64> : attend_tiles<128>;
    kernel<<<dim3(heads, (seq_len + ROWS - 1) / ROWS, batch), THREADS>>>(Q, K, V, output, heads, seq_len, head_dim);
}
