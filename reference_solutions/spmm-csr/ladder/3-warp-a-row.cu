// A warp a row: each lane fetches one element of the row, and all of them hand theirs round by shuffles. So 32 elements come
// in one load, and then only numbers of B are waited for: two columns a lane, of four elements at once.
#include <cuda_runtime.h>

__global__ void multiply(const int* row_offsets, const int* columns, const float* values, const float* B, float* C, int m, int k_count) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= m) return;
    int begin = row_offsets[row], end = row_offsets[row + 1];
    for (int first = 0; first < k_count; first += 64) {
        int k = first + lane;
        float low = 0.0f, high = 0.0f;
        for (int e = begin; e < end; e += 32) {
            int column = e + lane < end ? columns[e + lane] : 0;
            float value = e + lane < end ? values[e + lane] : 0.0f;
            int count = min(32, end - e);
#pragma unroll 4
            for (int i = 0; i < count; i++) {
                const float* from = B + (size_t)__shfl_sync(0xffffffffu, column, i) * k_count;
                float its_value = __shfl_sync(0xffffffffu, value, i);
                if (k < k_count) low += its_value * from[k];
                if (k + 32 < k_count) high += its_value * from[k + 32];
            }
        }
        if (k < k_count) C[(size_t)row * k_count + k] = low;
        if (k + 32 < k_count) C[(size_t)row * k_count + k + 32] = high;
    }
}

extern "C" void solve(const int* row_offsets, const int* columns, const float* values, const float* B, float* C, int M, int N, int K, int nnz) {
    multiply<<<(M + 7) / 8, 256>>>(row_offsets, columns, values, B, C, M, K);
}
