// A small kernel, a warp per element, makes scale * x A^T. Then tiles of 64 x 64 in registers take one long sum each: over
// x and W, and on over that result and B. The columns of a tile come from rows of W, read along the sum.
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

__global__ void __launch_bounds__(256) down(const float* __restrict__ x, const float* __restrict__ A, float* __restrict__ t, int count,
                                            int d_in, int rank, float scale) {
    int element = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (element >= count) return;
    const float* row = x + (size_t)(element / rank) * d_in;
    const float* weights = A + (size_t)(element % rank) * d_in;
    float sum = 0.0f;
    for (int k = lane; k < d_in; k += 32) sum = fmaf(row[k], weights[k], sum);
    for (int mask = 16; mask > 0; mask /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, mask);
    if (lane == 0) t[element] = scale * sum;
}

__global__ void __launch_bounds__(256) layer(const float* __restrict__ x, const float* __restrict__ W, const float* __restrict__ t,
                                             const float* __restrict__ B, float* __restrict__ output, int batch, int d_in, int d_out, int rank) {
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float acc[4][4] = {};
    auto rows = [=](const float* matrix, int width) {
        return [=](int r, int k) { return row + r < batch && k < width ? matrix[(size_t)(row + r) * width + k] : 0.0f; };
    };
    auto columns = [=](const float* matrix, int width) {
        return [=](int k, int c) { return column + c < d_out && k < width ? matrix[(size_t)(column + c) * width + k] : 0.0f; };
    };
    multiply<true>(acc, 0, d_in, rows(x, d_in), columns(W, d_in));
    multiply<true>(acc, 0, rank, rows(t, rank), columns(B, rank));
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            int r = row + ty * 4 + i, c = column + tx * 4 + j;
            if (r < batch && c < d_out) output[(size_t)r * d_out + c] = acc[i][j];
        }
    }
}

extern "C" void solve(const float* x, const float* W, const float* A, const float* B, float* output, int batch, int d_in, int d_out, int rank,
                      float lora_scale) {
    static float* t = nullptr;
    if (t == nullptr) cudaMalloc(&t, sizeof(float) * 1024 * 256);
    int count = batch * rank;
    down<<<(count + 7) / 8, 256>>>(x, A, t, count, d_in, rank, lora_scale);
    layer<<<dim3((d_out + 63) / 64, (batch + 63) / 64), 256>>>(x, W, t, B, output, batch, d_in, d_out, rank);
}
