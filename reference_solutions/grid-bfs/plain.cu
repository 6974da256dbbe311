// One launch a distance over all cells: a free cell without a distance that has a neighbour found last gets the next one.
// Every few launches the host asks whether the end was reached or nothing new was found.
#include <cuda_runtime.h>

#include <utility>

__global__ void start(int* distances, bool* front, int cells, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    distances[i] = i == first ? 0 : -1;
    front[i] = i == first;
}

// The cells found last and those found now stand in two arrays: nobody reads what others write.
__global__ void spread(const int* grid, int* distances, const bool* front, bool* next, int rows, int cols, int distance, int* last_found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    int r = i / cols, c = i % cols;
    bool is_next = grid[i] == 0 && distances[i] < 0 &&
                   ((r > 0 && front[i - cols]) || (r + 1 < rows && front[i + cols]) || (c > 0 && front[i - 1]) || (c + 1 < cols && front[i + 1]));
    next[i] = is_next;
    if (is_next) {
        distances[i] = distance + 1;
        atomicMax(last_found, distance + 1);
    }
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int cells = rows * cols, blocks = (cells + 255) / 256;
    int *distances, *last_found;
    cudaMalloc(&distances, sizeof(int) * cells);
    cudaMalloc(&last_found, sizeof(int));
    cudaMemset(last_found, 0, sizeof(int));
    bool *front, *next;
    cudaMalloc(&front, cells);
    cudaMalloc(&next, cells);
    start<<<blocks, 256>>>(distances, front, cells, start_row * cols + start_col);
    int* at_end = distances + end_row * cols + end_col;
    for (int distance = 0, found = -1, reached = 0; reached == distance && found < 0;) {
        for (int i = 0; i < 16; i++) {
            spread<<<blocks, 256>>>(grid, distances, front, next, rows, cols, distance++, last_found);
            std::swap(front, next);
        }
        cudaMemcpy(&reached, last_found, sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(&found, at_end, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(result, at_end, sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(next);
    cudaFree(front);
    cudaFree(last_found);
    cudaFree(distances);
}
