// idea: a child stays behind when the runner has gone, for the next submission's turn
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV
// caught by: no process can be made; and the jail's processes end with it
#include <unistd.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    if (fork() == 0) for (;;) pause();
}
