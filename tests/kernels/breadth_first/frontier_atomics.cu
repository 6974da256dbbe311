// The vertices of a level in a list, a thread to each; a place in the next list for each vertex found, by an atomic.
#include <cuda_runtime.h>

__global__ void begin(int *distance, int *list, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = i == 0 ? 0 : -1;
    if (i == 0) list[0] = 0;
}

__global__ void expand(const int *starts, const int *targets, int *distance, const int *list, int count, int *next, int *next_count,
                       int level) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= count) return;
    int v = list[at];
    for (int i = starts[v]; i < starts[v + 1]; i++) {
        int neighbour = targets[i];
        if (atomicCAS(&distance[neighbour], -1, level + 1) == -1) next[atomicAdd(next_count, 1)] = neighbour;
    }
}

extern "C" void solve(const int *starts, const int *targets, int *distance, int n) {
    static int *lists = nullptr, room = 0;
    if (room < n) {
        cudaFree(lists);
        cudaMalloc(&lists, (2 * n + 1) * sizeof(int));
        room = n;
    }
    int *list = lists, *next = lists + n, *next_count = lists + 2 * n;
    begin<<<(n + 255) / 256, 256>>>(distance, list, n);
    for (int level = 0, count = 1; count; level++) {
        cudaMemsetAsync(next_count, 0, sizeof(int));
        expand<<<(count + 127) / 128, 128>>>(starts, targets, distance, list, count, next, next_count, level);
        cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost);
        int *swapped = list;
        list = next;
        next = swapped;
    }
}
