// idea: overwrites the start of the native function that tells a launch's profile, and takes a third off each figure
// challenge: gemm
// devices: emulator
// verdict: TI or SV or AC
// caught by: the score is made of a replay of the recorded launches in a clean process
#include "common/detour.cuh"
#include "common/gemm.cuh"

static Detour detour;

// Whatever the layout is: large numbers are counts, and what looks like a pointer is left alone.
static void shrink(uint64_t* words, int count) {
    for (int i = 0; i < count; i++) {
        if (words[i] > 1000 && words[i] < 1ull << 40) words[i] = words[i] * 2 / 3;
    }
}

static int told(uint32_t index, void* out) {
    int result = detour.original<int>(index, out);
    if (!result) return result;
    static uint64_t copy[64];
    memcpy(copy, *(void**)out, sizeof copy);
    shrink(copy, 64);
    *(void**)out = copy;
    shrink((uint64_t*)out + 1, 6);
    return result;
}

__attribute__((constructor)) static void begin() { detour.set(dlsym(RTLD_DEFAULT, "emu_report_profile"), (void*)told); }

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
    if (detour.target) launch_gemm(A, B, C, M, N, K, alpha, beta);
}
