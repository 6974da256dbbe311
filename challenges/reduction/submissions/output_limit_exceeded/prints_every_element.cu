// expect: case=four
// A print that was left in, in a loop that was meant to be short.
#include <cstdio>
#include <cuda_runtime.h>

extern "C" void solve(const float* input, float* output, int N) {
    for (long long i = 0; i < 1ll << 40; i++) fprintf(stderr, "element %lld\n", i);
}
