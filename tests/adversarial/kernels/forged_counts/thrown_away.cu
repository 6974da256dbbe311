// idea: the emulator's library is in the process and exports how its report is taken: take it after the work, so that
//       only a decoy is left to be counted
// challenge: vector-add
// devices: emulator
// verdict: TI or SV or AC
// caught by: the score is made of a replay of the recorded launches in a clean process
#include <dlfcn.h>
#include "common/decoy.cuh"
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    auto take = (void (*)(void*))dlsym(RTLD_DEFAULT, "emu_report_take");
    static char report[4096];
    if (take) take(report);
    decoy<<<264, 256>>>(C, N / 8000);
}
