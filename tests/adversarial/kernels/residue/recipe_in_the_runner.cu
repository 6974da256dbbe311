// idea: the inputs of later calls of a burst are described in its request, in this process: looks for the next call's
//       recipe, and would do its work before its time
// challenge: reduction
// devices: cuda
// verdict: AC or TI or SV
// caught by: what is done before its time is in the burst's time all the same
#include <cstdio>
#include "common/python.cuh"
#include "common/reduction.cuh"

static int seen;

extern "C" void solve(const float* input, float* output, int N) {
    static int calls = 0;
    if (++calls > 12 && calls < 40) {
        // Reads the keys only: what a kernel of its own would need to make the numbers and add them up.
        char text[512];
        snprintf(text, sizeof text, R"(
import ctypes, gc
from judge.runner.timing import TimedCalls
for one in gc.get_objects():
    if isinstance(one, TimedCalls):
        keys = [slot.recipe.key for ready in one._burst for slot in ready.call.slots if slot.recipe]
        ctypes.c_int.from_address(%llu).value = len(keys)
)", (unsigned long long)&seen);
        run_python(text);
    }
    launch_sum(input, output, N);
}
