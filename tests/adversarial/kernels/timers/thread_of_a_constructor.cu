// idea: threads may be made until the submission is loaded: one lives on, and halves whatever looks like a time of some
//       hundred microseconds on the heap, all the while
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI or SV or RE
// caught by: the claim is bounded by the supervisor's clock; counts are replayed
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>
#include "common/vector_add.cuh"

static std::atomic<bool> running{false};

static void halve() {
    for (;;) {
        usleep(100);
        if (!running) continue;
        FILE* maps = fopen("/proc/self/maps", "r");
        char line[512];
        while (maps && fgets(line, sizeof line, maps)) {
            uintptr_t from, to;
            if (!strstr(line, "[heap]") || sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
            for (volatile double* at = (double*)from; (uintptr_t)at < to; at++) {
                double value = *at;
                if (value > 100e-6 && value < 900e-6) *at = value / 2;
            }
        }
        if (maps) fclose(maps);
    }
}

__attribute__((constructor)) static void begin() { std::thread(halve).detach(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    running = true;
    launch_add(A, B, C, N);
}
