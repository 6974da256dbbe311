// idea: touches host memory until the machine has none left for others
// challenge: vector-add
// devices: emulator, cuda
// verdict: MLE or RE
// verdict on cuda: MLE or RE or TLE
// caught by: the jail's memory is bounded as a whole
#include <cstring>
#include <new>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    for (;;) {
        char* taken = new (std::nothrow) char[64 << 20];
        if (!taken) __builtin_trap();
        memset(taken, 1, 64 << 20);
    }
}
