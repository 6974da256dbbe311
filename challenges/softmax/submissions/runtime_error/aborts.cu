// expect: case=four
// An assertion on the host that does not hold.
#undef NDEBUG
#include <cassert>
#include <cuda_runtime.h>

extern "C" void solve(const float* input, float* output, int N) { assert(N % 32 == 1 && N % 32 == 0); }
