// idea: what the device was asked for is written down in this process: leaves out of the record all launches but the
//       decoy's
// challenge: vector-add
// devices: emulator
// verdict: TI or SV or WA
// caught by: what is left does not give the answer
#include "common/decoy.cuh"
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from emulator.replay import recording

def pack(self, real=recording.Recording.pack):
    return real(recording.Recording(self.modules, self.steps[: len(self.steps) // 2]))

recording.Recording.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (!patched) return;
    decoy<<<264, 256>>>(C, N / 8000);
    launch_add(A, B, C, N);
}
