// idea: takes the request's nonce from the runner's memory and replies to RUN in its place, with a time of its own, and
//       lets no second reply out
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV or WA or TI or RE
// caught by: two replies to one request; the outputs are still to be right; the time is bounded
#include "common/python.cuh"
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    run_python(R"(
import gc, sys
from judge.runner.channel import Channel
from judge.wire.frames import Frame, Op
from judge.wire.messages import RunReply

frame = sys._getframe()
requests = [one for one in gc.get_objects() if isinstance(one, Channel)]
pending = None
for thread_frame in sys._current_frames().values():
    while thread_frame is not None:
        found = thread_frame.f_locals.get("request")
        if isinstance(found, Frame):
            pending = found
        thread_frame = thread_frame.f_back
if pending is not None:
    requests[0].reply(pending, RunReply(1e-6, 0, "", "").pack())
)");
}
