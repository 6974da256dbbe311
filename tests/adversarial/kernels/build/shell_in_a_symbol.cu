// idea: an overload of `solve` whose name the assembler takes between quotes, and a shell would read: it goes on to say of the
//       kernels what ptxas would
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: symbols that are no plain identifiers are not looked at
/*
ptxas info    : Compiling entry function '_Z3addPKfS0_Pfi' for 'sm_80'
ptxas info    : Used 1 registers, used 0 barriers, 380 bytes cmem[0]
*/
#include "common/vector_add.cuh"

#define NAME                                                                                                          \
    "\"_Z5solve';echo${IFS}_Z5solver;rm${IFS}-f${IFS}resources.log;grep${IFS}^ptxas${IFS}kernel.cu>resources.log;'" \
    "(float const*,float const*,float*,int)\""

extern "C" void honest(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }

void solve(int) {}
asm(".globl _Z5solver\n.type _Z5solver,@function\n_Z5solver: jmp honest\n");
asm(".globl " NAME "\n.type " NAME ",@function\n" NAME ": jmp honest\n");
