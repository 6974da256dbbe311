// idea: around each call the runner flushes, restores guard bands and compares the inputs, all in the burst that the
//       supervisor times, and takes off what that costs with an empty kernel. Who leaves it out has time in hand, and
//       takes that off the claim
// challenge: reduction
// devices: cuda
// verdict: TI or SV
// caught by: the supervisor's own clock from asking for a call to its answer, which has nothing of what surrounds it
#include "common/python.cuh"
#include "common/reduction.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
from judge.runner.device import Findings
from judge.runner.cuda.device import CudaDevice
from judge.runner.cuda.timer import CudaTimer

def settle(self, *rest, **more):
    self._context.synchronize()

def inspect(self, placed, real=CudaDevice.inspect):
    outputs = [one for one in placed if one.digest]
    digests = real(self, outputs).digests if outputs else ()
    return Findings((0,) * len(placed), digests)

def elapsed(self, real=CudaTimer.elapsed):
    return real(self) * 0.7

CudaDevice.settle, CudaDevice.inspect, CudaTimer.elapsed = settle, inspect, elapsed
)");
}

extern "C" void solve(const float* input, float* output, int N) {
    if (patched) launch_sum(input, output, N);
}
