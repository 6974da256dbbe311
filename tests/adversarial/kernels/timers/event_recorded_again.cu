// idea: finds the runner's opening event and records it again when the work is done, so that next to nothing lies
//       between the two
// challenge: vector-add
// devices: cuda
// verdict: TI or SV
// caught by: the supervisor's own clock, over bursts of calls, bounds the claim
#include <cstdio>
#include "common/python.cuh"
#include "common/vector_add.cuh"

static void* opening;
static bool found;

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool tried = false;
    if (!tried) {
        char text[512];
        snprintf(text, sizeof text, R"(
import ctypes, gc
from judge.runner.cuda.timer import CudaTimer
timer = next(one for one in gc.get_objects() if isinstance(one, CudaTimer))
ctypes.c_void_p.from_address(%llu).value = timer._started.value
)", (unsigned long long)&opening);
        found = run_python(text);
    }
    tried = true;
    if (!found) return;
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    cudaEventRecord((cudaEvent_t)opening, 0);
}
