// idea: an interval timer's signal handler interrupts the runner when solve is over, and does the work then
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or RE or TI or TLE or SV
// caught by: outputs are taken at once; what comes later is in the burst's time all the same
#include <csignal>
#include <sys/time.h>
#include "common/vector_add.cuh"

static const float *a, *b;
static float* c;
static int n;

static void work(int) { launch_add(a, b, c, n); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    a = A, b = B, c = C, n = N;
    signal(SIGALRM, work);
    itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
}
