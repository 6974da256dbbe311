// idea: never comes back from solve: serves the supervisor's requests itself, in Python, with outputs that it makes and
//       times that it likes
// challenge: vector-add
// devices: cuda
// verdict: TI or SV or WA
// caught by: the supervisor's clock over a burst of calls, and outputs that are opened after they were committed
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from dataclasses import replace
from judge.wire.bursts import CommitReply

def pack(self, real=CommitReply.pack):
    return real(replace(self, ran=replace(self.ran, elapsed_s=self.ran.elapsed_s * 0.6)))

CommitReply.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (patched) launch_add(A, B, C, N);
}
