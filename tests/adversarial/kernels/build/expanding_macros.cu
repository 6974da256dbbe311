// idea: a few lines that are gigabytes once their macros are expanded
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: time, memory and the size of files are bounded for the compiler
#include "common/vector_add.cuh"
#define A0(x) x x x x x x x x x x
#define A1(x) A0(A0(x))
#define A2(x) A1(A1(x))
#define A3(x) A2(A2(x))
static const char big[] = A3(A1("sixteen letters."));

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N + big[N % 16] / 127); }
