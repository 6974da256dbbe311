// idea: as with the device: says that there was too little memory for the judge's own buffers
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or SV or MLE
// caught by: once a submission is loaded, memory that is missing is its doing; never an internal error
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
from judge.runner.channel import Channel
from judge.wire.frames import Op
from judge.wire.messages import FailedReply

def reply(self, request, payload=b"", *, failed=False, real=Channel.reply):
    if request.op == Op.PREPARE:
        return real(self, request, FailedReply(5, 2, "cudaErrorMemoryAllocation", "").pack(), failed=True)
    return real(self, request, payload, failed=failed)

Channel.reply = reply
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
