// idea: the shield is mprotect: undo it for the three buffers, add on the host, let a decoy be counted
// challenge: vector-add
// devices: emulator
// verdict: WA or TI or SV or RE
// caught by: the replay has no host: what no kernel wrote is not in the outputs
#include <cstdint>
#include <sys/mman.h>
#include "common/decoy.cuh"

static void open_up(const void* begin, size_t size) {
    uintptr_t first = (uintptr_t)begin & ~uintptr_t{4095};
    mprotect((void*)first, (uintptr_t)begin + size - first, PROT_READ | PROT_WRITE);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    for (const void* buffer : {(const void*)A, (const void*)B, (const void*)C}) open_up(buffer, 4ul * N);
    for (int i = 0; i < N; i++) C[i] = A[i] + B[i];
    decoy<<<264, 256>>>(C, N / 8000);
}
