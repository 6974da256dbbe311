// idea: device memory is host memory here, and the shield before it has a switch: the host does the work, a decoy has
//       itself counted
// challenge: vector-add
// devices: emulator
// verdict: WA or TI or SV or RE
// caught by: the replay has no host: what no kernel wrote is not in the outputs
#include <dlfcn.h>
#include "common/decoy.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    auto shield = (void (*)(int))dlsym(RTLD_DEFAULT, "emu_set_shield");
    if (shield) shield(0);
    for (int i = 0; i < N; i++) C[i] = A[i] + B[i];
    if (shield) shield(1);
    decoy<<<264, 256>>>(C, N / 8000);
}
