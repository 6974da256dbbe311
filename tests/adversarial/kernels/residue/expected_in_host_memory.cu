// idea: the process may hold the expected outputs: looks through its heap and its mappings for the first four sums
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: references and expected outputs never enter the jail. If they were found, the answer would be wrong here
#include <cstdlib>
#include "common/memory_walk.cuh"
#include "common/vector_add.cuh"

static bool found_in(uintptr_t anchor, uintptr_t reach, const float* sums) {
    bool found = false;
    for_each_page(anchor, reach, [&](const char* page) {
        for (int at = 0; at + 16 <= 4096; at += 4) {
            if (page + at != (const char*)sums && memcmp(page + at, sums, 16) == 0) found = true;
        }
    });
    return found;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool looked = false, found = false;
    if (!looked && N == 33) {
        looked = true;
        float a[4], b[4];
        float* sums = (float*)malloc(16);
        cudaMemcpy(a, A, sizeof a, cudaMemcpyDeviceToHost);
        cudaMemcpy(b, B, sizeof b, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 4; i++) sums[i] = a[i] + b[i];
        void* mapping = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        found = found_in((uintptr_t)sums, 64ul << 20, sums) || found_in((uintptr_t)mapping, 512ul << 20, sums);
    }
    if (!found) launch_add(A, B, C, N);
}
