// idea: a constructor goes through all loaded objects (dl_iterate_phdr) and makes their calls of the clocks come here:
//       each reading half as late after the first as it was
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or TI or SV
// caught by: the times that count are the supervisor's; the emulator has no clock
#include <ctime>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/elf.cuh"
#include "common/vector_add.cuh"

static int slow_clock(clockid_t clock, timespec* now) {
    static timespec first[16];
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (failed || clock < 0 || clock > 15) return (int)failed;
    if (!first[clock].tv_sec) first[clock] = *now;
    long long ns = (now->tv_sec - first[clock].tv_sec) * 1000000000ll + now->tv_nsec - first[clock].tv_nsec;
    ns = first[clock].tv_nsec + ns / 2;
    *now = {first[clock].tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return 0;
}

static int short_time(float* ms, void*, void*) {
    *ms = 0.13f;
    return 0;
}

__attribute__((constructor)) static void begin() {
    patch_slots("clock_gettime", (void*)slow_clock);
    for (const char* name : {"cuEventElapsedTime", "cuEventElapsedTime_v2", "cudaEventElapsedTime"}) {
        patch_slots(name, (void*)short_time);
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
