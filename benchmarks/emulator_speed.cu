// The kernels of emulator_speed.py, in the style people write them. emulator_speed.cpp has the same per thread, for the CPU.
#include <cuda_fp16.h>
#include <mma.h>

__global__ void matmul_naive(const float *a, const float *b, float *c, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) return;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}

__global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[32][32], tile_b[32][32];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 32 + ty;
    float sum = 0;
    for (int t = 0; t < n; t += 32) {
        tile_a[ty][tx] = y < n && t + tx < n ? a[y * n + t + tx] : 0;
        tile_b[ty][tx] = x < n && t + ty < n ? b[(t + ty) * n + x] : 0;
        __syncthreads();
        for (int k = 0; k < 32; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    if (x < n && y < n) c[y * n + x] = sum;
}

__global__ void block_reduce(const float *in, float *out, int n) {
    __shared__ float part[256];
    int thread = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * 256 + thread; i < n; i += gridDim.x * 256) sum += in[i];
    part[thread] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (thread < s) part[thread] += part[thread + s];
        __syncthreads();
    }
    if (thread == 0) out[blockIdx.x] = part[0];
}

__global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__device__ float warp_max(float value) {
    for (int d = 16; d; d /= 2) value = fmaxf(value, __shfl_xor_sync(~0u, value, d));
    return value;
}

__device__ float warp_sum(float value) {
    for (int d = 16; d; d /= 2) value += __shfl_xor_sync(~0u, value, d);
    return value;
}

// One block of 256 threads to a row.
__global__ void softmax_rows(const float *in, float *out, int columns) {
    __shared__ float part[8];
    const float *row = in + (size_t)blockIdx.x * columns;
    float *to = out + (size_t)blockIdx.x * columns;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float most = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256) most = fmaxf(most, row[i]);
    most = warp_max(most);
    if (lane == 0) part[warp] = most;
    __syncthreads();
    most = warp_max(part[lane % 8]);
    __syncthreads();
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 256) sum += expf(row[i] - most);
    sum = warp_sum(sum);
    if (lane == 0) part[warp] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < 8; ++w) sum += part[w];
    for (int i = threadIdx.x; i < columns; i += 256) to[i] = expf(row[i] - most) / sum;
}

// Flash attention, head dimension 64: a block has 64 queries, a thread one of them; keys and values come by tiles of 32.
__global__ void attention(const float *q, const float *k, const float *v, float *out, int n) {
    __shared__ float keys[32][64], values[32][64];
    int thread = threadIdx.x, row = blockIdx.x * 64 + thread;
    float query[64], sums[64], most = -INFINITY, total = 0;
    for (int d = 0; d < 64; ++d) {
        query[d] = row < n ? q[row * 64 + d] * 0.125f : 0;
        sums[d] = 0;
    }
    for (int start = 0; start < n; start += 32) {
        for (int i = thread; i < 32 * 64; i += 64) {
            int at = start + i / 64;
            keys[i / 64][i % 64] = at < n ? k[at * 64 + i % 64] : 0;
            values[i / 64][i % 64] = at < n ? v[at * 64 + i % 64] : 0;
        }
        __syncthreads();
        for (int j = 0; j < 32 && start + j < n; ++j) {
            float score = 0;
            for (int d = 0; d < 64; ++d) score += query[d] * keys[j][d];
            float larger = fmaxf(most, score), old = expf(most - larger), weight = expf(score - larger);
            total = total * old + weight;
            most = larger;
            for (int d = 0; d < 64; ++d) sums[d] = sums[d] * old + weight * values[j][d];
        }
        __syncthreads();
    }
    for (int d = 0; d < 64 && row < n; ++d) out[row * 64 + d] = sums[d] / total;
}

// 64 by 64 of the result to a block of 256 threads, 4 by 4 of it to a thread, in registers. For the time to compile it.
__global__ void matmul_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[16][64], tile_b[16][64];
    int thread = threadIdx.x, tx = thread % 16, ty = thread / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int t = 0; t < n; t += 16) {
        for (int i = thread; i < 1024; i += 256) {
            int y = i / 16, x = i % 16, from = i / 64, to = i % 64;
            tile_a[x][y] = row + y < n && t + x < n ? a[(row + y) * n + t + x] : 0;
            tile_b[from][to] = t + from < n && column + to < n ? b[(t + from) * n + column + to] : 0;
        }
        __syncthreads();
        for (int k = 0; k < 16; ++k) {
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) sum[i][j] += tile_a[k][ty * 4 + i] * tile_b[k][tx * 4 + j];
            }
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            int y = row + ty * 4 + i, x = column + tx * 4 + j;
            if (y < n && x < n) c[y * n + x] = sum[i][j];
        }
    }
}

// Four warps to a block, each with a tile of 16 by 16 of the result.
__global__ void matmul_wmma(const half *a, const half *b, float *c, int n) {
    using namespace nvcuda;
    int warp = threadIdx.x / 32, row = blockIdx.y * 32 + warp / 2 * 16, column = blockIdx.x * 32 + warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
        wmma::load_matrix_sync(left, a + row * n + k, n);
        wmma::load_matrix_sync(right, b + k * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

extern "C" {
void run_matmul_naive(const float *a, const float *b, float *c, int n) {
    matmul_naive<<<dim3((n + 31) / 32, (n + 7) / 8), dim3(32, 8)>>>(a, b, c, n);
}
void run_matmul_tiled(const float *a, const float *b, float *c, int n) {
    matmul_tiled<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(a, b, c, n);
}
void run_matmul_registers(const float *a, const float *b, float *c, int n) {
    matmul_registers<<<dim3((n + 63) / 64, (n + 63) / 64), 256>>>(a, b, c, n);
}
void run_block_reduce(const float *in, float *out, int n, int blocks) { block_reduce<<<blocks, 256>>>(in, out, n); }
void run_vector_add(const float *a, const float *b, float *c, int n) {
    vector_add<<<(n + 255) / 256, 256>>>(a, b, c, n);
}
void run_softmax_rows(const float *in, float *out, int rows, int columns) {
    softmax_rows<<<rows, 256>>>(in, out, columns);
}
void run_attention(const float *q, const float *k, const float *v, float *out, int n) {
    attention<<<(n + 63) / 64, 64>>>(q, k, v, out, n);
}
void run_matmul_wmma(const half *a, const half *b, float *c, int n) {
    matmul_wmma<<<dim3(n / 32, n / 32), 128>>>(a, b, c, n);
}
}
