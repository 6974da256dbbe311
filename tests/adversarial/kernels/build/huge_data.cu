// idea: one line that makes a library of gigabytes, for the store of artifacts to keep
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: the sizes of files and of the library are bounded
#include "common/vector_add.cuh"

char big[3ul << 30] = {1};

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
