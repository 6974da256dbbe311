// What the emulator does not do, or nobody does.
#include <cuda_runtime.h>

__global__ void strange(int* out) {
    asm volatile("frobnicate.u32 %0, 1;" : "=r"(*out));  // strange
}

__global__ void ordinary(int* out) { *out = 1; }

extern "C" int run_strange(int* out) {
    strange<<<1, 32>>>(out);
    return cudaGetLastError();
}

extern "C" int run_ordinary(int* out) {
    ordinary<<<1, 32>>>(out);
    return cudaDeviceSynchronize();
}
