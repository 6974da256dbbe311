// Where K is a multiple of four, 16 lanes share a row and take four columns each: they load 16 elements at a time, one a
// lane, hand them round by shuffles, and read rows of B in 16-byte loads. Other widths take one column a lane.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int LANES = 16;

__device__ void add(float4& sum, float value, float4 b) {
    sum.x += value * b.x;
    sum.y += value * b.y;
    sum.z += value * b.z;
    sum.w += value * b.w;
}

__device__ void add(float& sum, float value, float b) { sum += value * b; }

// Part is what one lane computes of a row: four columns, or one.
template <typename Part>
__global__ void __launch_bounds__(THREADS) multiply(const int* __restrict__ row_offsets, const int* __restrict__ columns,
                                                     const float* __restrict__ values, const Part* __restrict__ B, Part* __restrict__ C, int m,
                                                     int parts) {
    int row = (blockIdx.x * THREADS + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    // The lanes of a row take every turn of the loops together; the two rows of a warp may part ways.
    unsigned mates = 0xffffu << (threadIdx.x % 32 / LANES * LANES);
    if (row >= m) return;
    int begin = row_offsets[row], end = row_offsets[row + 1];
    for (int first = 0; first < parts; first += LANES) {
        int part = first + lane;
        Part sum = {};
        for (int e = begin; e < end; e += LANES) {
            int mine = e + lane;
            int column = mine < end ? columns[mine] : 0;
            float value = mine < end ? values[mine] : 0.0f;
            int count = min(LANES, end - e);
#pragma unroll 4
            for (int i = 0; i < count; i++) {
                int its_column = __shfl_sync(mates, column, i, LANES);
                float its_value = __shfl_sync(mates, value, i, LANES);
                if (part < parts) add(sum, its_value, __ldg(B + (long long)its_column * parts + part));
            }
        }
        if (part < parts) C[(long long)row * parts + part] = sum;
    }
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* B, float* C, int M, int N, int K, int nnz) {
    int rows = THREADS / LANES, blocks = (M + rows - 1) / rows;
    if (K % 4 == 0) {
        multiply<float4><<<blocks, THREADS>>>(row_offsets, columns, values, reinterpret_cast<const float4*>(B), reinterpret_cast<float4*>(C), M, K / 4);
    } else {
        multiply<float><<<blocks, THREADS>>>(row_offsets, columns, values, B, C, M, K);
    }
}
