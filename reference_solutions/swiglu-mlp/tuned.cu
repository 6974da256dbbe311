// Tiles of 64 x 64 in registers and shared memory. One kernel makes both projections of a tile and gates them, so that only
// the product goes to memory; in the other the long sum is shared out over blocks until the GPU is full, which add their
// parts with atomics to a cleared output.
#include <cuda_runtime.h>

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

__global__ void __launch_bounds__(256) project(const float* __restrict__ x, const float* __restrict__ gate, const float* __restrict__ up,
                                               float* __restrict__ hidden, int M, int d, int f) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float gates[4][4] = {}, ups[4][4] = {};
    auto a = [&](int r, int k) { return row + r < M && k < d ? x[(size_t)(row + r) * d + k] : 0.0f; };
    auto b = [&](const float* w) { return [=](int k, int c) { return k < d && column + c < f ? w[(size_t)k * f + column + c] : 0.0f; }; };
    multiply<false>(gates, 0, d, a, b(gate));
    multiply<false>(ups, 0, d, a, b(up));
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < M && c < f) hidden[(size_t)r * f + c] = gates[i][j] / (1.0f + __expf(-gates[i][j])) * ups[i][j];
        }
    }
}

__global__ void __launch_bounds__(256) project_back(const float* __restrict__ hidden, const float* __restrict__ down,
                                                    float* __restrict__ output, int M, int d, int f, int share) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    int first = blockIdx.z * share, end = min(f, first + share);
    float acc[4][4] = {};
    multiply<false>(
        acc, first, end, [&](int r, int k) { return row + r < M && k < end ? hidden[(size_t)(row + r) * f + k] : 0.0f; },
        [&](int k, int c) { return k < end && column + c < d ? down[(size_t)k * d + column + c] : 0.0f; });
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < M && c < d) atomicAdd(&output[(size_t)r * d + c], acc[i][j]);
        }
    }
}

extern "C" void solve(const float* x, const float* W_gate, const float* W_up, const float* W_down, float* output, int M, int d_model,
                      int d_ffn) {
    static float* hidden = nullptr;
    static size_t size = 0;
    size_t needed = sizeof(float) * M * d_ffn;
    if (needed > size) {
        cudaFree(hidden);
        cudaMalloc(&hidden, needed);
        size = needed;
    }
    cudaMemsetAsync(output, 0, sizeof(float) * M * d_model);
    project<<<dim3((d_ffn + 63) / 64, (M + 63) / 64), 256>>>(x, W_gate, W_up, hidden, M, d_model, d_ffn);
    dim3 grid((d_model + 63) / 64, (M + 63) / 64, 1);
    int pieces = max(1, min((d_ffn + 255) / 256, 528 / (int)(grid.x * grid.y)));
    int share = ((d_ffn + pieces - 1) / pieces + 15) / 16 * 16;
    grid.z = (d_ffn + share - 1) / share;
    project_back<<<grid, 256>>>(hidden, W_down, output, M, d_model, d_ffn, share);
}
