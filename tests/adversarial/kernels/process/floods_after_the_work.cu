// idea: right answers, and output without end from the handler of an interval timer
// challenge: vector-add
// devices: emulator, cuda
// verdict: OLE or RE
// caught by: what is printed is counted for as long as the process lives
#include <csignal>
#include <cstring>
#include <sys/time.h>
#include <unistd.h>
#include "common/vector_add.cuh"

static void flood(int) {
    static char page[4096];
    memset(page, 'x', sizeof page);
    for (int i = 0; i < 64; i++) {
        if (write(1, page, sizeof page) < 0) return;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    struct sigaction action = {};
    action.sa_handler = flood;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    itimerval often = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &often, nullptr);
    launch_add(A, B, C, N);
    usleep(20000);
}
