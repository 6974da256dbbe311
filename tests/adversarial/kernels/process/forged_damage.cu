// idea: writes to its input, and to what lies behind the output, and changes the runner's word about it
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC or RE or SV or WA or TI
// caught by: nothing is to be had by it: the outputs that count are taken by the supervisor, the inputs are its own
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
import dataclasses
from judge.wire.messages import FetchReply

def pack(self, real=FetchReply.pack):
    return real(dataclasses.replace(self, damage=(0,) * len(self.damage)))

FetchReply.pack = pack
)");
}

__global__ void spoil(float* A) { A[0] = 0; }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    spoil<<<1, 1>>>((float*)A);
}
