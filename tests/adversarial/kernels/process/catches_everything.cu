// idea: handlers for every signal, and a wild pointer: perhaps what ends others only interrupts this one
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or TLE or WA or SV
// caught by: what is killed by a filter cannot catch it, and what hangs is ended
#include <csetjmp>
#include <csignal>
#include <sys/socket.h>
#include "common/vector_add.cuh"

static sigjmp_buf back;
static void go_on(int) { siglongjmp(back, 1); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    for (int number = 1; number < 32; number++) signal(number, go_on);
    if (sigsetjmp(back, 1) == 0) *(volatile int*)nullptr = 1;
    if (sigsetjmp(back, 1) == 0) socket(AF_INET, SOCK_STREAM, 0);
    launch_add(A, B, C, N);
}
