// idea: what is looked at is held against the digests of its pieces, which come with an opened output: leaves the work
//       out and commits what is there, does the work when an output is asked for, and sends with it the digests of the
//       pieces as they had been committed
// challenge: vector-add
// devices: cuda
// verdict: SV or WA or TI
// caught by: the supervisor digests the pieces that it looks at itself
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.wire.digest import level_sizes
from judge.runner.timing import TimedCalls

def solve(self, real=TimedCalls.solve, kept=[]):
    if not kept:
        kept.append(real(self))
    return kept[0]

def open(self, request):
    ready = self._burst[request.call]
    for slot, placed in zip(ready.call.slots, ready.placed):
        if placed is not None and placed.digest:
            target = self._outputs.piece(slot.digests_offset, level_sizes(slot.size)[0])
            self._device.piece_digests(placed.buffer, target)
    for placed in ready.placed:
        if placed is not None:
            self._device.place(placed)
    pairs = zip(ready.call.slots, ready.placed)
    values = [slot.value if placed is None else placed.buffer.address for slot, placed in pairs]
    self._program.call(self._program.bind(values))
    self._copy_out(ready)
    return b""

TimedCalls.solve, TimedCalls.open = solve, open
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (patched) launch_add(A, B, C, N);
}
