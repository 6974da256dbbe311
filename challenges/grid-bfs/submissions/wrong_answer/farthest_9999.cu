// expect: case=ten-thousand-steps
// A cell that nothing reached has the distance 9999, so that no cell is farther than 9998 steps away.
#include <cuda_runtime.h>

constexpr int THREADS = 256, FAR = 9999;

__global__ void set_far(int* distances, int cells, int first) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < cells) distances[i] = i == first ? 0 : FAR;
}

// One block. The cells found last are a list; a free neighbor that is farther than they say joins the next one.
__global__ void search(const int* grid, int* distances, int* front, int* next, int rows, int cols, int first, int end, int* result) {
    __shared__ int found;
    if (threadIdx.x == 0) front[0] = first;
    int count = 1;
    for (int distance = 1; count > 0; distance++) {
        __syncthreads();
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        for (int f = threadIdx.x; f < count; f += THREADS) {
            int r = front[f] / cols, c = front[f] % cols;
            for (int side = 0; side < 4; side++) {
                int to_r = r + (side == 0) - (side == 1), to_c = c + (side == 2) - (side == 3), to = to_r * cols + to_c;
                if (to_r < 0 || to_r >= rows || to_c < 0 || to_c >= cols || grid[to]) continue;
                if (atomicMin(&distances[to], distance) > distance) next[atomicAdd(&found, 1)] = to;
            }
        }
        __syncthreads();
        count = found;
        int* other = front;
        front = next;
        next = other;
    }
    if (threadIdx.x == 0) *result = distances[end] == FAR ? -1 : distances[end];
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int cells = rows * cols, first = start_row * cols + start_col;
    int* room;
    cudaMalloc(&room, sizeof(int) * 3 * cells);
    set_far<<<(cells + THREADS - 1) / THREADS, THREADS>>>(room, cells, first);
    search<<<1, THREADS>>>(grid, room, room + cells, room + 2 * cells, rows, cols, first, end_row * cols + end_col, result);
    cudaFree(room);
}
