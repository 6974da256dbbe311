// A launch for each distance over all cells; the host asks every sixteenth time whether the end was reached.
#include <cuda_runtime.h>

__global__ void start(int* distances, int cells, int first) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cells) distances[i] = i == first ? 0 : -1;
}

__global__ void spread(const int* grid, int* distances, int rows, int cols, int distance, int* last_found) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols || grid[i] != 0 || distances[i] >= 0) return;
    int r = i / cols, c = i % cols;
    bool is_next = (r > 0 && distances[i - cols] == distance) || (r + 1 < rows && distances[i + cols] == distance) ||
                   (c > 0 && distances[i - 1] == distance) || (c + 1 < cols && distances[i + 1] == distance);
    if (is_next) {
        distances[i] = distance + 1;
        *last_found = distance + 1;
    }
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int cells = rows * cols, blocks = (cells + 255) / 256;
    int *distances, *last_found;
    cudaMalloc(&distances, sizeof(int) * cells);
    cudaMalloc(&last_found, sizeof(int));
    cudaMemset(last_found, 0, sizeof(int));
    start<<<blocks, 256>>>(distances, cells, start_row * cols + start_col);
    int* at_end = distances + end_row * cols + end_col;
    for (int distance = 0, found = -1, reached = 0; reached == distance && found < 0;) {
        for (int i = 0; i < 16; i++) spread<<<blocks, 256>>>(grid, distances, rows, cols, distance++, last_found);
        cudaMemcpy(&reached, last_found, sizeof(int), cudaMemcpyDeviceToHost);
        cudaMemcpy(&found, at_end, sizeof(int), cudaMemcpyDeviceToHost);
    }
    cudaMemcpy(result, at_end, sizeof(int), cudaMemcpyDeviceToDevice);
    cudaFree(last_found);
    cudaFree(distances);
}
