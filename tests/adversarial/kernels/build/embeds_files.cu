// idea: embeds files of the host: by the compiler, the assembler of the host's code, and the debugger's sections
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: the compiler's jail holds the toolkit and the source, and nothing of the host's
#include "common/vector_add.cuh"

asm(".section .rodata\nsecret: .incbin \"/etc/shadow\"\n.previous\n");

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
