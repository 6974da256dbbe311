// The five products run in tiles of 64 x 64 with 4 x 4 sums in the registers of each thread. Scores and dP of a tile are made by
// one kernel; a block turns each row into weights and dS; the long sums over queries or keys are shared out over blocks, which
// add their parts with atomics, until the GPU is full.
#include <cuda_runtime.h>
#include <math.h>

constexpr float LOG2_E = 1.4426950408889634f;

// acc += A B for a tile of 64 x 64. `a(row, k)` and `b(k, column)` give the elements, and 0 outside. A_BY_ROW, B_BY_ROW:
// neighbours in memory have neighbouring k (A), neighbouring columns (B).
template <bool A_BY_ROW, bool B_BY_ROW, class A, class B>
__device__ void multiply(float (&acc)[4][4], int first_k, int end_k, A a, B b) {
    __shared__ float as[16][68], bs[16][68];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int k0 = first_k; k0 < end_k; k0 += 16) {
#pragma unroll
        for (int i = threadIdx.x; i < 1024; i += 256) {
            if (A_BY_ROW) {
                as[i % 16][i / 16] = a(i / 16, k0 + i % 16);
            } else {
                as[i / 64][i % 64] = a(i % 64, k0 + i / 64);
            }
            if (B_BY_ROW) {
                bs[i / 64][i % 64] = b(k0 + i / 64, i % 64);
            } else {
                bs[i % 16][i / 16] = b(k0 + i % 16, i / 16);
            }
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 u = *reinterpret_cast<const float4*>(&as[k][ty * 4]), v = *reinterpret_cast<const float4*>(&bs[k][tx * 4]);
            float left[4] = {u.x, u.y, u.z, u.w}, right[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) acc[i][j] = fmaf(left[i], right[j], acc[i][j]);
            }
        }
        __syncthreads();
    }
}

__global__ void __launch_bounds__(256) products(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                                const float* __restrict__ dO, float* __restrict__ P, float* __restrict__ S, int M, int N,
                                                int d, float scale) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float scores[4][4] = {}, toward[4][4] = {};
    auto left = [&](const float* x) { return [=](int r, int k) { return row + r < M && k < d ? x[(size_t)(row + r) * d + k] : 0.0f; }; };
    auto right = [&](const float* x) {
        return [=](int k, int c) { return column + c < N && k < d ? x[(size_t)(column + c) * d + k] : 0.0f; };
    };
    multiply<true, false>(scores, 0, d, left(Q), right(K));
    multiply<true, false>(toward, 0, d, left(dO), right(V));
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r >= M || c >= N) continue;
            P[(size_t)r * N + c] = scores[i][j] * scale;
            S[(size_t)r * N + c] = toward[i][j];
        }
    }
}

// The sum of a block's values, or their maximum.
template <bool SUM>
__device__ float combine(float value) {
    __shared__ float of_warp[8];
    for (int mask = 16; mask > 0; mask /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, mask);
        value = SUM ? value + other : fmaxf(value, other);
    }
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (int w = 1; w < 8; w++) value = SUM ? value + of_warp[w] : fmaxf(value, of_warp[w]);
    __syncthreads();
    return value;
}

// P holds scores times log2(e) on entry.
__global__ void __launch_bounds__(256) slopes(float* __restrict__ P, float* __restrict__ S, int N) {
    P += (size_t)blockIdx.x * N;
    S += (size_t)blockIdx.x * N;
    float largest = -INFINITY;
    for (int j = threadIdx.x; j < N; j += 256) largest = fmaxf(largest, P[j]);
    largest = combine<false>(largest);
    float total = 0.0f, mean = 0.0f;
    for (int j = threadIdx.x; j < N; j += 256) {
        float weight = exp2f(P[j] - largest);
        total += weight;
        mean = fmaf(weight, S[j], mean);
        P[j] = weight;
    }
    float inverse = 1.0f / combine<true>(total);
    mean = combine<true>(mean) * inverse;
    for (int j = threadIdx.x; j < N; j += 256) {
        float weight = P[j] * inverse;
        P[j] = weight;
        S[j] = weight * (S[j] - mean);
    }
}

// out += scale A B, A of rows x depth, B of depth x d, for the share of the depth that belongs to this block. TRANSPOSED: A lies
// in memory as depth x rows.
template <bool TRANSPOSED>
__global__ void __launch_bounds__(256) gradient(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ out, int rows,
                                                int depth, int d, float scale, int share) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    int first = blockIdx.z * share, end = min(depth, first + share);
    float acc[4][4] = {};
    auto a = [&](int r, int k) {
        if (row + r >= rows || k >= end) return 0.0f;
        return TRANSPOSED ? A[(size_t)k * rows + row + r] : A[(size_t)(row + r) * depth + k];
    };
    auto b = [&](int k, int c) { return k < end && column + c < d ? B[(size_t)k * d + column + c] : 0.0f; };
    multiply<!TRANSPOSED, true>(acc, first, end, a, b);
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < rows && c < d) atomicAdd(&out[(size_t)r * d + c], acc[i][j] * scale);
        }
    }
}

template <bool TRANSPOSED>
static void launch(const float* A, const float* B, float* out, int rows, int depth, int d, float scale) {
    cudaMemsetAsync(out, 0, sizeof(float) * rows * d);
    dim3 grid((d + 63) / 64, (rows + 63) / 64, 1);
    int pieces = max(1, min((depth + 255) / 256, 1056 / (int)(grid.x * grid.y)));
    int share = ((depth + pieces - 1) / pieces + 15) / 16 * 16;
    grid.z = (depth + share - 1) / share;
    gradient<TRANSPOSED><<<grid, 256>>>(A, B, out, rows, depth, d, scale, share);
}

extern "C" void solve(const float* Q, const float* K, const float* V, const float* dO, float* dQ, float* dK, float* dV, int M, int N,
                      int d) {
    static float* scratch = nullptr;
    static size_t size = 0;
    size_t needed = 2 * sizeof(float) * M * N;
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    float *P = scratch, *S = scratch + (size_t)M * N, scale = 1.0f / sqrtf((float)d);
    products<<<dim3((N + 63) / 64, (M + 63) / 64), 256>>>(Q, K, V, dO, P, S, M, N, d, scale * LOG2_E);
    slopes<<<M, 256>>>(P, S, N);
    launch<false>(S, K, dQ, M, N, d, scale);
    launch<true>(S, Q, dK, N, M, d, scale);
    launch<true>(P, dO, dV, N, M, d, 1.0f);
}
