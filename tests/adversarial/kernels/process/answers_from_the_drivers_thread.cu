// idea: host functions run on a thread of the driver's: if that is on another processor than the thread that makes the
//       calls, it can answer from there; where it is, this gives no right answer
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: all threads are on one processor before the submission is loaded
#include <sched.h>
#include "common/vector_add.cuh"

static cpu_set_t there;

static void CUDART_CB look(void*) { sched_getaffinity(0, sizeof there, &there); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool looked = false, elsewhere = false;
    if (!looked) {
        cpu_set_t here;
        sched_getaffinity(0, sizeof here, &here);
        cudaLaunchHostFunc(0, look, nullptr);
        cudaDeviceSynchronize();
        looked = true;
        elsewhere = !CPU_EQUAL(&here, &there);
    }
    if (!elsewhere) launch_add(A, B, C, N);
}
