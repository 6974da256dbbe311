// Two tiled kernels. In the first a block of 16 x 16 threads keeps the whole d x d sum in registers (WIDTH/16 squared per
// thread) while it walks over its share of positions, 16 at a time in shared memory, and adds it with atomics once. In the
// second a block multiplies 64 queries with the sum, whose extra column of ones gives the denominators.
#include <cuda_runtime.h>

__device__ float feature(float x) { return x > 0.0f ? x + 1.0f : __expf(x); }

template <int WIDTH>
__global__ void __launch_bounds__(256) add_up(const float* __restrict__ K, const float* __restrict__ V, float* __restrict__ products,
                                              float* __restrict__ sums, int M, int d, int share) {
    constexpr int PER = WIDTH / 16;
    __shared__ float keys[16][WIDTH], values[16][WIDTH];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int first = blockIdx.x * share, end = min(M, first + share);
    float acc[PER][PER] = {}, total[PER] = {};
    for (int start = first; start < end; start += 16) {
        for (int i = threadIdx.x; i < 16 * WIDTH; i += 256) {
            int j = i / WIDTH, c = i % WIDTH;
            bool there = start + j < end && c < d;
            keys[j][c] = there ? feature(K[(size_t)(start + j) * d + c]) : 0.0f;
            values[j][c] = there ? V[(size_t)(start + j) * d + c] : 0.0f;
        }
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < 16; j++) {
            float k[PER], v[PER];
#pragma unroll
            for (int p = 0; p < PER; p++) k[p] = keys[j][ty + 16 * p], v[p] = values[j][tx + 16 * p];
#pragma unroll
            for (int p = 0; p < PER; p++) {
                total[p] += k[p];
#pragma unroll
                for (int q = 0; q < PER; q++) acc[p][q] = fmaf(k[p], v[q], acc[p][q]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int p = 0; p < PER; p++) {
        int a = ty + 16 * p;
        if (a >= d) continue;
        if (tx == 0) atomicAdd(&sums[a], total[p]);
#pragma unroll
        for (int q = 0; q < PER; q++) {
            if (tx + 16 * q < d) atomicAdd(&products[a * d + tx + 16 * q], acc[p][q]);
        }
    }
}

template <int WIDTH>
__global__ void __launch_bounds__(256) apply(const float* __restrict__ Q, const float* __restrict__ products, const float* __restrict__ sums,
                                             float* __restrict__ output, int M, int d) {
    constexpr int PER = WIDTH / 16;
    __shared__ float queries[64][17], matrix[16][WIDTH], column[16];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    int first = blockIdx.x * 64;
    float acc[4][PER] = {}, denominator[4] = {};
    for (int a0 = 0; a0 < d; a0 += 16) {
        for (int i = threadIdx.x; i < 1024; i += 256) {
            int r = i / 16, a = a0 + i % 16;
            queries[r][i % 16] = first + r < M && a < d ? feature(Q[(size_t)(first + r) * d + a]) : 0.0f;
        }
        for (int i = threadIdx.x; i < 16 * WIDTH; i += 256) {
            int a = a0 + i / WIDTH, b = i % WIDTH;
            matrix[i / WIDTH][b] = a < d && b < d ? products[a * d + b] : 0.0f;
        }
        if (threadIdx.x < 16) column[threadIdx.x] = a0 + threadIdx.x < d ? sums[a0 + threadIdx.x] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int a = 0; a < 16; a++) {
            float q[4], m[PER];
#pragma unroll
            for (int r = 0; r < 4; r++) q[r] = queries[ty + 16 * r][a];
#pragma unroll
            for (int p = 0; p < PER; p++) m[p] = matrix[a][tx + 16 * p];
#pragma unroll
            for (int r = 0; r < 4; r++) {
                denominator[r] = fmaf(q[r], column[a], denominator[r]);
#pragma unroll
                for (int p = 0; p < PER; p++) acc[r][p] = fmaf(q[r], m[p], acc[r][p]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
        int row = first + ty + 16 * r;
        if (row >= M) continue;
#pragma unroll
        for (int p = 0; p < PER; p++) {
            if (tx + 16 * p < d) output[(size_t)row * d + tx + 16 * p] = acc[r][p] / denominator[r];
        }
    }
}

template <int WIDTH>
static void launch(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    static float* scratch = nullptr;
    if (scratch == nullptr) cudaMalloc(&scratch, sizeof(float) * 128 * 129);
    cudaMemsetAsync(scratch, 0, sizeof(float) * d * (d + 1));
    int share = max(64, ((M + 263) / 264 + 15) / 16 * 16);
    add_up<WIDTH><<<(M + share - 1) / share, 256>>>(K, V, scratch, scratch + d * d, M, d, share);
    apply<WIDTH><<<(M + 63) / 64, 256>>>(Q, scratch, scratch + d * d, output, M, d);
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int d) {
    if (d <= 64) {
        launch<64>(Q, K, V, output, M, d);
    } else {
        launch<128>(Q, K, V, output, M, d);
    }
}
