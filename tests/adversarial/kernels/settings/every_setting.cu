// idea: turns every knob of the device that a process may turn, and leaves them so for whoever comes next
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI
// caught by: they belong to the process's context, which ends with it
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20);
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    cudaFuncSetCacheConfig(add, cudaFuncCachePreferL1);
    cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
    cudaGetLastError();
    launch_add(A, B, C, N);
}
