// idea: notes a copy of 2^40 rows that lie on each other: little memory, and work without an end for whoever does it again
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
    return real(recording.Recording(self.modules, self.steps + struct.pack('<I9Q', 7, at, 0, 0, at, 0, 0, 4, 1 << 40, 1)))

recording.Recording.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
