// idea: leaves the work to a destructor and to atexit, when no clock runs any more
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA
// caught by: outputs are taken after each call, and the process ends without running anything
#include <cstdlib>
#include "common/vector_add.cuh"

static const float *a, *b;
static float* c;
static int n;

static void work() { launch_add(a, b, c, n); }
__attribute__((destructor)) static void end() { work(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool registered = false;
    if (!registered) atexit(work);
    registered = true;
    a = A, b = B, c = C, n = N;
}
