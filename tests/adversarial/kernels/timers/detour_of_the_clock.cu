// idea: overwrites libc's clock_gettime, so that Python's clocks run at half their speed in this process
// challenge: reduction
// devices: emulator, cuda
// verdict: AC or TI or SV or RE
// caught by: no clock of this process is believed
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/detour.cuh"
#include "common/reduction.cuh"

static Detour detour;

static int half_speed(clockid_t clock, timespec* now) {
    static timespec first[16];
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (failed || clock < 0 || clock > 15) return (int)failed;
    if (!first[clock].tv_sec) first[clock] = *now;
    long long ns = (now->tv_sec - first[clock].tv_sec) * 1000000000ll + now->tv_nsec - first[clock].tv_nsec;
    ns = first[clock].tv_nsec + ns / 2;
    *now = {first[clock].tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

__attribute__((constructor)) static void begin() {
    detour.set(dlsym(RTLD_DEFAULT, "clock_gettime"), (void*)half_speed);
}

extern "C" void solve(const float* input, float* output, int N) { launch_sum(input, output, N); }
