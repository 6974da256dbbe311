// One block from start to end. The cells found last are a list; each thread takes cells of it and adds those of their
// neighbours that nobody had found before, which an atomic operation on one bit a cell decides. A barrier separates the
// distances, so that a step costs a microsecond instead of a launch.
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

__global__ void mark_walls(const int* grid, unsigned* closed, int cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned walls = __ballot_sync(0xffffffffu, i < cells && grid[i] != 0);
    if (threadIdx.x % 32 == 0 && i < cells) closed[i / 32] = walls;
}

__global__ void __launch_bounds__(THREADS) search(unsigned* closed, int* front, int* next, int rows, int cols, int first, int end,
                                                   int* result) {
    __shared__ int count, found;
    if (threadIdx.x == 0) {
        front[0] = first;
        atomicOr(&closed[first / 32], 1u << first % 32);
        found = 0;
        count = 1;
    }
    __syncthreads();
    int steps = 0;
    bool is_reached = first == end;
    while (count > 0 && !is_reached) {
        bool finds_end = false;
        for (int f = threadIdx.x; f < count; f += THREADS) {
            int cell = front[f], r = cell / cols, c = cell % cols;
#pragma unroll
            for (int side = 0; side < 4; side++) {
                bool is_there = side == 0 ? r > 0 : side == 1 ? r + 1 < rows : side == 2 ? c > 0 : c + 1 < cols;
                if (!is_there) continue;
                int neighbour = cell + (side == 0 ? -cols : side == 1 ? cols : side == 2 ? -1 : 1);
                unsigned bit = 1u << neighbour % 32;
                if (closed[neighbour / 32] & bit) continue;
                if (atomicOr(&closed[neighbour / 32], bit) & bit) continue;
                next[atomicAdd(&found, 1)] = neighbour;
                if (neighbour == end) finds_end = true;
            }
        }
        // In a register: a flag in shared memory could be set by the next step while slower warps still read it.
        is_reached = __syncthreads_or(finds_end);
        steps++;
        if (threadIdx.x == 0) {
            count = found;
            found = 0;
        }
        int* other = front;
        front = next;
        next = other;
        __syncthreads();
    }
    if (threadIdx.x == 0) *result = is_reached ? steps : -1;
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int cells = rows * cols, words = (cells + 31) / 32;
    unsigned* room;
    cudaMallocAsync(&room, sizeof(int) * (words + 2 * cells), 0);
    int* lists = reinterpret_cast<int*>(room + words);
    mark_walls<<<(cells + 255) / 256, 256>>>(grid, room, cells);
    search<<<1, THREADS>>>(room, lists, lists + cells, rows, cols, start_row * cols + start_col, end_row * cols + end_col, result);
    cudaFreeAsync(room, 0);
}
