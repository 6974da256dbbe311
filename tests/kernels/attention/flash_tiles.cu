// Flash attention on the ordinary units: 64 queries to a block, keys and values in tiles of 64 in shared memory, 4 x 4 of
// the scores and of the result in each thread's registers.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64, TILE = 64, STRIDE = TILE + 4;

struct Tiles {
    float q[WIDTH][STRIDE], k[WIDTH][STRIDE], v[TILE][STRIDE], p[TILE][STRIDE];  // q, k: a column to a row; p: by keys
};

__device__ void load_transposed(float (*tile)[STRIDE], const half *from, float factor) {
    for (int i = threadIdx.x; i < TILE * WIDTH / 2; i += 256) {
        int row = i % TILE, column = i / TILE * 2;
        float2 pair = __half22float2(*reinterpret_cast<const half2 *>(from + row * WIDTH + column));
        tile[column][row] = pair.x * factor;
        tile[column + 1][row] = pair.y * factor;
    }
}

__global__ void __launch_bounds__(256) attend(const half *__restrict__ Q, const half *__restrict__ K, const half *__restrict__ V,
                                              float *__restrict__ out, int length) {
    extern __shared__ __align__(16) unsigned char memory[];
    Tiles &tiles = *reinterpret_cast<Tiles *>(memory);
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    size_t head = (size_t)blockIdx.y * length * WIDTH;
    load_transposed(tiles.q, Q + head + (size_t)blockIdx.x * TILE * WIDTH, 0.125f);
    float result[4][4] = {}, largest[4] = {-1e30f, -1e30f, -1e30f, -1e30f}, denominator[4] = {};
    for (int first = 0; first < length; first += TILE) {
        __syncthreads();
        load_transposed(tiles.k, K + head + first * WIDTH, 1);
        for (int i = threadIdx.x; i < TILE * WIDTH / 2; i += 256) {
            float2 pair = __half22float2(reinterpret_cast<const half2 *>(V + head + first * WIDTH)[i]);
            *reinterpret_cast<float2 *>(&tiles.v[i / 32][i % 32 * 2]) = pair;
        }
        __syncthreads();
        float score[4][4] = {};
#pragma unroll 8
        for (int d = 0; d < WIDTH; d++) {
            float4 q4 = *reinterpret_cast<float4 *>(&tiles.q[d][ty * 4]), k4 = *reinterpret_cast<float4 *>(&tiles.k[d][tx * 4]);
            float q[4] = {q4.x, q4.y, q4.z, q4.w}, k[4] = {k4.x, k4.y, k4.z, k4.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) score[i][j] += q[i] * k[j];
            }
        }
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float next = fmaxf(fmaxf(score[i][0], score[i][1]), fmaxf(score[i][2], score[i][3]));
#pragma unroll
            for (int mask = 8; mask; mask /= 2) next = fmaxf(next, __shfl_xor_sync(0xffffffff, next, mask));
            next = fmaxf(next, largest[i]);
            float rescale = __expf(largest[i] - next);
            largest[i] = next;
            denominator[i] *= rescale;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                float weight = __expf(score[i][j] - next);
                denominator[i] += weight;
                result[i][j] *= rescale;
                tiles.p[tx * 4 + j][ty * 4 + i] = weight;
            }
        }
        // The rows of p that a thread reads were written by the 16 threads of its own half of a warp.
        __syncwarp();
#pragma unroll 8
        for (int key = 0; key < TILE; key++) {
            float4 p4 = *reinterpret_cast<float4 *>(&tiles.p[key][ty * 4]), v4 = *reinterpret_cast<float4 *>(&tiles.v[key][tx * 4]);
            float p[4] = {p4.x, p4.y, p4.z, p4.w}, v[4] = {v4.x, v4.y, v4.z, v4.w};
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) result[i][j] += p[i] * v[j];
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int mask = 8; mask; mask /= 2) denominator[i] += __shfl_xor_sync(0xffffffff, denominator[i], mask);
        float factor = 1 / denominator[i];
        size_t row = head + ((size_t)blockIdx.x * TILE + ty * 4 + i) * WIDTH;
        *reinterpret_cast<float4 *>(&out[row + tx * 4]) =
            make_float4(result[i][0] * factor, result[i][1] * factor, result[i][2] * factor, result[i][3] * factor);
    }
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Tiles));
    attend<<<dim3(length / TILE, heads), 256, sizeof(Tiles)>>>(Q, K, V, out, length);
}
