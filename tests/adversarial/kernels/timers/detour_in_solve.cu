// idea: as a detour by a constructor, but only at the first call, when nobody looks any more
// challenge: vector-add
// devices: cuda
// verdict: AC or TI
// caught by: no page can be made executable once the submission is loaded
#include "common/detour.cuh"
#include "common/vector_add.cuh"

static Detour detour;

static int less(float* ms, void* from, void* to) {
    int result = detour.original<int>(ms, from, to);
    if (result == 0) *ms *= 0.8f;
    return result;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static bool tried = false;
    if (!tried) detour.set(dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuEventElapsedTime"), (void*)less);
    tried = true;
    launch_add(A, B, C, N);
}
