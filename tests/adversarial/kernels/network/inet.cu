// idea: would send the inputs away, or fetch an answer: a server somewhere
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV
// caught by: no socket can be made, and the jail's network has nobody in it
#include <sys/socket.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    socket(AF_INET, SOCK_STREAM, 0);
    launch_add(A, B, C, N);
}
