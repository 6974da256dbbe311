// idea: the judge waits for its own context; another one, made in the constructor, has streams of its own
// challenge: vector-add
// devices: cuda
// verdict: RE or WA or TI or AC
// caught by: a context has memory of its own: the judge's buffers are not mapped there
#include <dlfcn.h>
#include "common/vector_add.cuh"

static void* other;
static int (*set_current)(void*);
static void* mine;

__attribute__((constructor)) static void begin() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    auto create = (int (*)(void**, unsigned, int))dlsym(driver, "cuCtxCreate_v2");
    auto current = (int (*)(void**))dlsym(driver, "cuCtxGetCurrent");
    set_current = (int (*)(void*))dlsym(driver, "cuCtxSetCurrent");
    if (!create || !current || !set_current) return;
    current(&mine);
    create(&other, 0, 0);
    set_current(mine);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (!other) return;
    set_current(other);
    launch_add(A, B, C, N);
    set_current(mine);
}
