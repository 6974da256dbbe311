// idea: the second lock (no threads, no executable memory) is put on by the runner after the constructors: one of them
//       takes it out of the runner, so that solve can make threads that work later
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or TI or AC or RE
// caught by: that lock is no wall of the clock: what runs late is in the burst's time, and counts are replayed
#include <thread>
#include <unistd.h>
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
from judge.runner import seccomp
seccomp.lock_after_load = lambda **options: None
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    std::thread([=] {
        usleep(200);
        launch_add(A, B, C, N);
        cudaDeviceSynchronize();
    }).detach();
}
