// Each level goes over all vertices, one to a thread; the host looks whether anything has changed.
#include <cuda_runtime.h>

__global__ void begin(int *distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = i == 0 ? 0 : -1;
}

__global__ void expand(const int *starts, const int *targets, int *distance, int n, int level, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || *(volatile int *)&distance[v] != level) return;
    for (int i = starts[v]; i < starts[v + 1]; i++) {
        if (atomicCAS(&distance[targets[i]], -1, level + 1) == -1) *(volatile int *)changed = 1;
    }
}

extern "C" void solve(const int *starts, const int *targets, int *distance, int n) {
    static int *changed = nullptr;
    if (!changed) cudaMalloc(&changed, sizeof(int));
    begin<<<(n + 255) / 256, 256>>>(distance, n);
    for (int level = 0, more = 1; more; level++) {
        cudaMemsetAsync(changed, 0, sizeof(int));
        expand<<<(n + 255) / 256, 256>>>(starts, targets, distance, n, level, changed);
        cudaMemcpy(&more, changed, sizeof(int), cudaMemcpyDeviceToHost);
    }
}
