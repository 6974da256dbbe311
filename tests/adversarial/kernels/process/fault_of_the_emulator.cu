// idea: the emulator says of itself when it is to blame, in words: so does this
// challenge: vector-add
// devices: emulator
// verdict: RE
// caught by: words from the runner decide on no internal error: a fault of the emulator's own is an RE that says so
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
import judge.wire.messages as messages

def pack(self, real=messages.RunReply.pack):
    return real(messages.RunReply(-1.0, 999, "cudaErrorUnknown", "a fault of the emulator itself: KeyError"))

messages.RunReply.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {}
