// idea: the assembler can do what C++ cannot: own entries of .init_array and .preinit_array, an interpreter for the library,
//       a second `solve` as a weak symbol
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or CE or RE
// caught by: what runs while the library is loaded meets the lock; only one `solve` is exported
#include "common/vector_add.cuh"

asm(".section .interp,\"a\"\n.string \"/bin/true\"\n.previous\n"
    ".section .init_array,\"aw\"\n.quad 0\n.previous\n"
    ".weak _Z5solvePKfS0_Pfi\n_Z5solvePKfS0_Pfi:\nret\n");

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
