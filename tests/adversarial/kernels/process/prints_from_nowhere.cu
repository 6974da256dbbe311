// idea: what printf prints is read by the emulator itself, from wherever the kernel says
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: arguments and strings are read as a load of the kernel's would be
#include <cstdio>
#include "common/vector_add.cuh"

__constant__ char format[] = "%s %llx\n";

__global__ void print(char* arguments) {
    unsigned long long text;
    asm("cvta.const.u64 %0, format;" : "=l"(text));
    asm volatile("{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %0; st.param.b64 [b], %1; "
                 "call.uni (r), vprintf, (a, b); }" ::"l"(text), "l"(arguments));
    if (!text) printf("nothing");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    print<<<1, 1>>>((char*)0x10);
    launch_add(A, B, C, N);
}
