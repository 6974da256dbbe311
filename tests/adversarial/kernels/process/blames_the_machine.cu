// idea: an internal error is tried again, for nothing: replies that the device or the jail could not be brought up
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or SV
// caught by: only START can fail by the machine's fault, and it is over when the submission is loaded
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
from judge.runner.channel import Channel
from judge.wire.frames import Op
from judge.wire.messages import FailedReply

def reply(self, request, payload=b"", *, failed=False, real=Channel.reply):
    if request.op == Op.RUN:
        return real(self, request, FailedReply(1, 0, "", "no GPU is there").pack(), failed=True)
    return real(self, request, payload, failed=failed)

Channel.reply = reply
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
