// idea: each call does the work of the one before: inputs and places seem to stay where they are
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or RE
// caught by: each call's outputs are taken, or committed, before the next
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static const float *a = nullptr, *b;
    static float* c;
    static int n;
    if (a == A && b == B && c == C && n == N) launch_add(a, b, c, n);
    a = A, b = B, c = C, n = N;
}
