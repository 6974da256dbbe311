// idea: a kernel that never ends stays on the device, at the lowest priority, and watches a buffer of the judge's
// challenge: vector-add
// devices: cuda
// verdict: TLE or RE
// caught by: the context is never idle, and the clock for it runs; the kernel ends with its process
#include "common/vector_add.cuh"

__global__ void watch(const volatile float* C, volatile float* seen) {
    for (;;) {
        *seen = C[0];
        __nanosleep(1000);
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static float* seen = nullptr;
    launch_add(A, B, C, N);
    if (seen) return;
    cudaMalloc(&seen, 4);
    int low, high;
    cudaStream_t side;
    cudaDeviceGetStreamPriorityRange(&low, &high);
    cudaStreamCreateWithPriority(&side, cudaStreamNonBlocking, low);
    watch<<<1, 1, 0, side>>>(C, seen);
}
