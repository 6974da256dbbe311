// idea: the replay's own counters lie beside shared memory: finds them from there, and writes what it likes
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: instructions for constants and parameters reach no host memory
#include "common/vector_add.cuh"

using Word = unsigned long long;

__device__ Word read(Word at) {
    Word value;
    asm volatile("ld.const.b64 %0, [%1];" : "=l"(value) : "l"(at));
    return value;
}

__device__ void write(Word at, Word value) { asm volatile("st.param.b64 [%0], %1;" ::"l"(at), "l"(value) : "memory"); }

__global__ void forge() {
    __shared__ int own[64];
    own[threadIdx.x] = 0;
    Word context = (Word)own / 256 * 256 + 256 + 4096;
    Word tally = read(context + 784);
    if (tally) write(tally, 1);
    write(context + 16, 1);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    forge<<<1, 32>>>();
}
