// Eight lanes to a row, which suits rows of some thirty entries better than a whole warp.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void multiply(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values,
                         const float *__restrict__ x, float *__restrict__ y, int rows) {
    auto group = cg::tiled_partition<8>(cg::this_thread_block());
    int row = blockIdx.x * (blockDim.x / 8) + group.meta_group_rank();
    if (row >= rows) return;
    int end = starts[row + 1];
    float sum = 0;
    for (int i = starts[row] + group.thread_rank(); i < end; i += 8) sum += values[i] * x[columns[i]];
    sum = cg::reduce(group, sum, cg::plus<float>());
    if (group.thread_rank() == 0) y[row] = sum;
}

extern "C" void solve(const int *starts, const int *columns, const float *values, const float *x, float *y, int rows) {
    multiply<<<(rows + 31) / 32, 256>>>(starts, columns, values, x, y, rows);
}
