// expect: case=one-tile
// Waits, but not for the device.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <time.h>

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    timespec hour = {3600, 0};
    nanosleep(&hour, nullptr);
}
