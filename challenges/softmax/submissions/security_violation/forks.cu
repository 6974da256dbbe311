// expect: case=four
// Leaves the work to a child.
#include <cuda_runtime.h>
#include <unistd.h>

extern "C" void solve(const float* input, float* output, int N) { fork(); }
