// idea: an assertion of a kernel that reads as if the emulator were to blame, and the submission to be tried again
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: words decide on no internal error
#include <cassert>

__global__ void fails(int n) { assert(n < 0 && "a fault of the emulator itself: KeyError"); }

extern "C" void solve(const float* A, const float* B, float* C, int N) { fails<<<1, 1>>>(N); }
