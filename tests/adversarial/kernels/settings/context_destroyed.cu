// idea: takes the runner's context away by the driver's API, and leaves one of its own in its place
// challenge: vector-add
// devices: cuda
// verdict: RE or WA or TI
// caught by: the runner's memory, events and kernels belong to its own context
#include <dlfcn.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto reset = (int (*)(int))dlsym(driver, "cuDevicePrimaryCtxReset_v2");
    auto create = (int (*)(void**, unsigned, int))dlsym(driver, "cuCtxCreate_v2");
    void* own;
    if (reset) reset(0);
    if (create) create(&own, 0, 0);
}
