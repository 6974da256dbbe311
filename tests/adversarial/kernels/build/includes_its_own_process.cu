// idea: the compiler's own environment and arguments are files too
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: it is no C++, and the message shows a few constants at most
#include "common/vector_add.cuh"
static const char* environment =
#include "/proc/self/environ"
;

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
