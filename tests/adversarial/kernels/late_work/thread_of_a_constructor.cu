// idea: a constructor may still make threads: one waits for work and does it a little after solve has come back, when
//       the timer has stopped and before the outputs are looked at
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or TI or RE or AC
// caught by: outputs are taken at once; what is launched later is in the burst's time all the same
#include <atomic>
#include <thread>
#include <unistd.h>
#include "common/vector_add.cuh"

static const float *a, *b;
static float* c;
static int n;
static std::atomic<int> wanted{0}, done{0};

static void work() {
    for (;;) {
        if (wanted == done) continue;
        usleep(100);
        launch_add(a, b, c, n);
        cudaDeviceSynchronize();
        done++;
    }
}

__attribute__((constructor)) static void begin() { std::thread(work).detach(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    // What was asked for before must be done, or this call's buffers were taken for that one's.
    while (wanted != done) usleep(10);
    a = A, b = B, c = C, n = N;
    wanted++;
}
