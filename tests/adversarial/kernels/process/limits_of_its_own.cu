// idea: lowers the process's own limits, so that the runner fails and the fault looks like the machine's
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or AC or TLE
// caught by: once a submission is loaded, an end is the submission's; never an internal error
#include <sys/resource.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    setrlimit(RLIMIT_AS, &none);
    setrlimit(RLIMIT_DATA, &none);
    launch_add(A, B, C, N);
}
