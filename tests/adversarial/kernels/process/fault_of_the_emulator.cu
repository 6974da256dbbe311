// idea: the emulator says of itself when it is to blame, in words: so does this
// challenge: vector-add
// devices: emulator
// verdict: RE or SV or WA or AC
// caught by: words from the runner decide on no internal error
// open: the emulator's own word for its faults is believed, and the submission tried again
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
import judge.runner.messages as messages

def pack(self, real=messages.RunReply.pack):
    return real(messages.RunReply(-1.0, 999, "cudaErrorUnknown", "a fault of the emulator itself: KeyError"))

messages.RunReply.pack = pack
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {}
