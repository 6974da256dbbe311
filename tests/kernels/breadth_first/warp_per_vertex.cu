// A warp to each vertex of the list, so that long rows are read together; places in the next list by one atomic to a warp.
#include <cuda_runtime.h>

__global__ void begin(int *distance, int *list, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = i == 0 ? 0 : -1;
    if (i == 0) list[0] = 0;
}

__global__ void expand(const int *__restrict__ starts, const int *__restrict__ targets, int *distance, const int *__restrict__ list,
                       int count, int *next, int *next_count, int level) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (at >= count) return;
    int v = list[at], end = starts[v + 1];
    for (int i = starts[v]; i < end; i += 32) {
        int neighbour = i + lane < end ? targets[i + lane] : -1;
        // A look first: most neighbours were found before.
        bool found = neighbour >= 0 && *(volatile int *)&distance[neighbour] == -1 && atomicCAS(&distance[neighbour], -1, level + 1) == -1;
        unsigned finders = __ballot_sync(0xffffffff, found);
        if (!finders) continue;
        int place = 0;
        if (lane == 0) place = atomicAdd(next_count, __popc(finders));
        place = __shfl_sync(0xffffffff, place, 0) + __popc(finders & ((1u << lane) - 1));
        if (found) next[place] = neighbour;
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
        expand<<<(count + 3) / 4, 128>>>(starts, targets, distance, list, count, next, next_count, level);
        cudaMemcpy(&count, next_count, sizeof(int), cudaMemcpyDeviceToHost);
        int *swapped = list;
        list = next;
        next = swapped;
    }
}
