// idea: attaches to the process outside, by its number inside
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV
// caught by: ptrace ends the process, and outside processes have no number in here
#include <sys/ptrace.h>
#include <unistd.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
}
