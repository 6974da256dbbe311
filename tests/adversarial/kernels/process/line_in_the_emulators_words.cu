// idea: the emulator's word for its own faults as the name of a file, in which a kernel traps
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE
// caught by: words decide on no internal error
#line 5 "a fault of the emulator itself"
__global__ void traps() { __trap(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) { traps<<<1, 1>>>(); }
