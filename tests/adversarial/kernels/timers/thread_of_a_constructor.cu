// idea: threads may be made until the submission is loaded: one lives on, and halves whatever looks like a time of some
//       hundred microseconds on the heap, all the while
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI or SV or RE
// caught by: constructors cannot make threads either; the claim is bounded by the supervisor's clock; counts are replayed
#include <atomic>
#include <cstdlib>
#include <thread>
#include "common/memory_walk.cuh"
#include "common/vector_add.cuh"

static std::atomic<bool> running{false};

static void halve() {
    for (;;) {
        usleep(100);
        if (!running) continue;
        for_each_page((uintptr_t)malloc(1), 4ul << 20, [](const char* page) {
            for (volatile double* at = (double*)page; (const char*)at < page + 4096; at++) {
                double value = *at;
                if (value > 100e-6 && value < 900e-6) *at = value / 2;
            }
        });
    }
}

__attribute__((constructor)) static void begin() {
    try {
        std::thread(halve).detach();
    } catch (...) {
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    running = true;
    launch_add(A, B, C, N);
}
