// idea: outputs are judged by their digests until some are opened: commits the first digest of all again and again,
//       leaves the work out, and does it only when an output is asked for
// challenge: vector-add
// devices: cuda
// verdict: SV or WA or TI
// caught by: what is opened is compared with the digest that was sent before anybody asked
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.runner.timing import TimedCalls

def solve(self, real=TimedCalls.solve, kept=[]):
    if not kept:
        kept.append(real(self))
    return kept[0]

def commit(self, real=TimedCalls.commit, kept=[]):
    reply = real(self)
    if not kept:
        kept.append(reply)
    return kept[0]

def open(self, request, real=TimedCalls.open):
    ready = self._burst[request.call]
    for placed in ready.placed:
        if placed is not None:
            self._device.place(placed)
    pairs = zip(ready.call.slots, ready.placed)
    values = [slot.value if placed is None else placed.buffer.address for slot, placed in pairs]
    self._program.call(self._program.bind(values))
    return real(self, request)

TimedCalls.solve, TimedCalls.commit, TimedCalls.open = solve, commit, open
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (patched) launch_add(A, B, C, N);
}
