// idea: switches the profile off by the emulator's own function, works, and switches it on again for a decoy
// challenge: vector-add
// devices: emulator
// verdict: TI or SV or AC
// caught by: the score is made of a replay of the recorded launches in a clean process
#include <cstdint>
#include <dlfcn.h>
#include "common/decoy.cuh"
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    auto observe = (void (*)(uint32_t, uint32_t))dlsym(RTLD_DEFAULT, "emu_set_observe");
    if (observe) observe(0, 0);
    launch_add(A, B, C, N);
    if (observe) observe(0, 1);
    decoy<<<264, 256>>>(C, N / 8000);
}
