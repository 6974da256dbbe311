// expect: case=wide-front cuda=WA,AC
// The cells found last are a list of at most 1024 in shared memory; what is found beyond them is lost.
#include <cuda_runtime.h>

constexpr int THREADS = 256, LIST = 1024;

__global__ void search(const int* grid, int* visited, int rows, int cols, int first, int end, int* result) {
    __shared__ int lists[2][LIST], found;
    if (threadIdx.x == 0) {
        lists[0][0] = first;
        visited[first] = 1;
    }
    int count = 1, steps = 0;
    bool is_reached = first == end;
    for (; count > 0 && !is_reached; steps++) {
        __syncthreads();
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        const int* front = lists[steps % 2];
        bool finds_end = false;
        for (int f = threadIdx.x; f < count; f += THREADS) {
            int r = front[f] / cols, c = front[f] % cols;
            for (int side = 0; side < 4; side++) {
                int to_r = r + (side == 0) - (side == 1), to_c = c + (side == 2) - (side == 3), to = to_r * cols + to_c;
                if (to_r < 0 || to_r >= rows || to_c < 0 || to_c >= cols || grid[to] || atomicExch(&visited[to], 1)) continue;
                int place = atomicAdd(&found, 1);
                if (place < LIST) lists[(steps + 1) % 2][place] = to;
                finds_end |= to == end;
            }
        }
        is_reached = __syncthreads_or(finds_end);
        count = min(found, LIST);
    }
    if (threadIdx.x == 0) *result = is_reached ? steps : -1;
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int* visited;
    cudaMalloc(&visited, sizeof(int) * rows * cols);
    cudaMemset(visited, 0, sizeof(int) * rows * cols);
    search<<<1, THREADS>>>(grid, visited, rows, cols, start_row * cols + start_col, end_row * cols + end_col, result);
    cudaFree(visited);
}
