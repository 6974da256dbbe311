// idea: the process may hold the expected outputs: looks through all of its memory for the first four sums
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: references and expected outputs never enter the jail. If they were found, the answer would be wrong here
#include <cstdint>
#include <cstdio>
#include <cstring>
#include "common/vector_add.cuh"

// Whether the process's own memory has these bytes besides where they are asked from.
static bool somewhere(const float* wanted, int count) {
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[512];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps)) {
        uintptr_t from, to;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 || mode[0] != 'r') continue;
        if (strstr(line, "[stack]") || strstr(line, "[v") || strstr(line, "/dev/") || to - from > 1ul << 28) continue;
        for (const char* at = (const char*)from; at + 4 * count <= (const char*)to; at += 4) {
            if (memcmp(at, wanted, 4 * count) == 0 && (const float*)at != wanted) found = true;
        }
    }
    if (maps) fclose(maps);
    return found;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool looked = false;
    static bool found = false;
    if (!looked && N == 33) {
        looked = true;
        float a[4], b[4], sums[4];
        cudaMemcpy(a, A, sizeof a, cudaMemcpyDeviceToHost);
        cudaMemcpy(b, B, sizeof b, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 4; i++) sums[i] = a[i] + b[i];
        found = somewhere(sums, 4);
    }
    if (!found) launch_add(A, B, C, N);
}
