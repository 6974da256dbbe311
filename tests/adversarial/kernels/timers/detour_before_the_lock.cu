// idea: before anything else runs, a constructor overwrites the driver's cuEventElapsedTime in place, and takes a fifth off whatever it says
// challenge: vector-add
// devices: cuda
// verdict: AC or TI or SV
// caught by: constructors meet the whole lock: no code can be changed; and the supervisor's own clock
#include "common/detour.cuh"
#include "common/vector_add.cuh"

static Detour first, second;

static int less(Detour& detour, float* ms, void* from, void* to) {
    int result = detour.original<int>(ms, from, to);
    if (result == 0) *ms *= 0.8f;
    return result;
}

static int less_1(float* ms, void* from, void* to) { return less(first, ms, from, to); }
static int less_2(float* ms, void* from, void* to) { return less(second, ms, from, to); }

__attribute__((constructor)) static void begin() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    first.set(dlsym(driver, "cuEventElapsedTime"), (void*)less_1);
    second.set(dlsym(driver, "cuEventElapsedTime_v2"), (void*)less_2);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
}
