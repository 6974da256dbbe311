// The chunked form, whose work grows with the sequence and not with its square. One kernel makes the decayed sum of k v^T of
// each chunk of 64 positions, one puts them together chunk after chunk (a thread per element of the matrix), and the last
// adds what lies within a chunk to what came before it. All products are tiles of 64 x 64.
#include <cmath>
#include <cuda_runtime.h>

constexpr int CHUNK = 64;

// acc += A B for a tile of 64 x 64, by 16 x 16 threads with 4 x 4 sums each. `a(row, k)` and `b(k, column)` give the elements
// and must give 0 outside. B_ALONG_K: neighbours in memory of B have neighbouring k.
template <bool B_ALONG_K, class A, class B>
__device__ void multiply(float (&acc)[4][4], int first_k, int end_k, A a, B b) {
    __shared__ float as[16][68], bs[16][68];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int k0 = first_k; k0 < end_k; k0 += 16) {
#pragma unroll
        for (int i = threadIdx.x; i < 1024; i += 256) {
            as[i % 16][i / 16] = a(i / 16, k0 + i % 16);
            if (B_ALONG_K) {
                bs[i % 16][i / 16] = b(k0 + i % 16, i / 16);
            } else {
                bs[i / 64][i % 64] = b(k0 + i / 64, i % 64);
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

__device__ float power(float log2_gamma, int steps) { return exp2f(log2_gamma * steps); }

__global__ void __launch_bounds__(256) add_up(const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ states, int length,
                                              int d, float log2_gamma) {
    int start = blockIdx.z * CHUNK, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float acc[4][4] = {};
    multiply<false>(
        acc, 0, CHUNK,
        [&](int r, int k) { return row + r < d && start + k < length ? K[(size_t)(start + k) * d + row + r] * power(log2_gamma, CHUNK - 1 - k) : 0.0f; },
        [&](int k, int c) { return column + c < d && start + k < length ? V[(size_t)(start + k) * d + column + c] : 0.0f; });
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < d && c < d) states[((size_t)blockIdx.z * d + r) * d + c] = acc[i][j];
        }
    }
}

// Replaces the sum of each chunk by that of all chunks before it.
__global__ void put_together(float* __restrict__ states, int chunks, int elements, float decay) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= elements) return;
    float before = 0.0f;
#pragma unroll 4
    for (int c = 0; c < chunks; c++) {
        float own = states[(size_t)c * elements + i];
        states[(size_t)c * elements + i] = before;
        before = fmaf(decay, before, own);
    }
}

__global__ void __launch_bounds__(256) apply(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
                                             const float* __restrict__ states, float* __restrict__ output, int length, int d, float log2_gamma) {
    __shared__ float weights[CHUNK][CHUNK + 1];
    int start = blockIdx.y * CHUNK, column = blockIdx.x * 64;
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    float within[4][4] = {}, acc[4][4] = {};
    auto query = [&](int r, int k) { return start + r < length && k < d ? Q[(size_t)(start + r) * d + k] : 0.0f; };
    multiply<true>(within, 0, d, query, [&](int k, int c) { return start + c < length && k < d ? K[(size_t)(start + c) * d + k] : 0.0f; });
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int n = ty * 4 + i, m = tx * 4 + j;
            weights[n][m] = m <= n ? within[i][j] * power(log2_gamma, n - m) : 0.0f;
        }
    }
    __syncthreads();
    multiply<false>(
        acc, 0, CHUNK, [&](int r, int k) { return weights[r][k]; },
        [&](int k, int c) { return start + k < length && column + c < d ? V[(size_t)(start + k) * d + column + c] : 0.0f; });
    multiply<false>(
        acc, 0, d, [&](int r, int k) { return query(r, k) * power(log2_gamma, r + 1); },
        [&](int k, int c) { return k < d && column + c < d ? states[((size_t)blockIdx.y * d + k) * d + column + c] : 0.0f; });
    float scale = 1.0f / sqrtf((float)d);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = start + ty * 4 + i, c = column + tx * 4 + j;
            if (r < length && c < d) output[(size_t)r * d + c] = acc[i][j] * scale;
        }
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int seq_len, int d_model, float gamma) {
    static float* states = nullptr;
    static size_t size = 0;
    int chunks = (seq_len + CHUNK - 1) / CHUNK, tiles = (d_model + 63) / 64;
    size_t needed = sizeof(float) * chunks * d_model * d_model;
    if (needed > size) {
        cudaFree(states);
        cudaMalloc(&states, needed);
        size = needed;
    }
    float log2_gamma = log2f(gamma);
    add_up<<<dim3(tiles, tiles, chunks), 256>>>(K, V, states, seq_len, d_model, log2_gamma);
    put_together<<<(d_model * d_model + 255) / 256, 256>>>(states, chunks, d_model * d_model, exp2f(log2_gamma * CHUNK));
    apply<<<dim3(tiles, chunks), 256>>>(Q, K, V, states, output, seq_len, d_model, log2_gamma);
}
