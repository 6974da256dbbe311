// idea: exports functions by the names that the timer calls, so that the loader takes these
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or CE
// caught by: the library is linked with a version script that exports `solve` alone
#include <cstdint>
#include <ctime>
#include "common/vector_add.cuh"

extern "C" {
__attribute__((visibility("default"))) int cuEventElapsedTime(float* ms, void*, void*) {
    *ms = 0.1f;
    return 0;
}
__attribute__((visibility("default"))) int cuEventElapsedTime_v2(float* ms, void*, void*) {
    *ms = 0.1f;
    return 0;
}
__attribute__((visibility("default"))) int cuCtxRecordEvent(void*, void*) { return 0; }
__attribute__((visibility("default"))) int clock_gettime(clockid_t, timespec* now) noexcept {
    static uint64_t ns = 0;
    ns += 100;
    *now = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}
__attribute__((visibility("default"))) void emu_report_take(void*) {}
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
