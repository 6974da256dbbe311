// idea: a host function holds a side stream back for two milliseconds, and the work waits behind it: the device is idle
//       when the timer looks
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI or WA
// caught by: the context is not idle while a stream has something left
#include <unistd.h>
#include "common/vector_add.cuh"

static void CUDART_CB wait(void*) { usleep(2000); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static cudaStream_t side = nullptr;
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaLaunchHostFunc(side, wait, nullptr);
    launch_add(A, B, C, N, side);
}
