// idea: a constructor replaces the method of the runner that hands over the emulator's counts: half of each is enough to
//       win, and far above any floor
// challenge: vector-add
// devices: emulator
// verdict: TI or SV or AC
// caught by: the score is made of a replay of the recorded launches in a clean process
#include "common/python.cuh"
#include "common/vector_add.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
import dataclasses
from judge.runner.emulator import EmulatorDevice

def half(numbers):
    return tuple(number // 2 for number in numbers)

def forged(self, real=EmulatorDevice.take_report):
    claim = real(self)
    if claim is None:
        return None
    profiles = tuple(
        dataclasses.replace(profile, counters=half(profile.counters), numbers=half(profile.numbers[:3]) + profile.numbers[3:])
        for profile in claim.profiles
    )
    return dataclasses.replace(claim, profiles=profiles)

EmulatorDevice.take_report = forged
)");
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (patched) launch_add(A, B, C, N);
}
