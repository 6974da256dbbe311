// idea: changes the counts where they become bytes: the profiles that go over the socket are those of a kernel that read
//       and wrote a third
// challenge: reduction
// devices: emulator
// verdict: TI or SV or AC
// caught by: the score is made of a replay of the recorded launches in a clean process
#include "common/python.cuh"
#include "common/reduction.cuh"

static bool patched;

__attribute__((constructor)) static void begin() {
    patched = run_python(R"(
import dataclasses
import judge.wire.messages as messages

def thrifty(out, profiles, real=messages.pack_profiles):
    real(out, tuple(
        dataclasses.replace(one, counters=tuple(n // 3 for n in one.counters), numbers=tuple(n // 3 for n in one.numbers))
        for one in profiles
    ))

messages.pack_profiles = thrifty
)");
}

extern "C" void solve(const float* input, float* output, int N) {
    if (patched) launch_sum(input, output, N);
}
