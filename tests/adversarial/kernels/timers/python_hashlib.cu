// idea: makes every SHA-256 of this process the same, in case both sides of a comparison are made here
// challenge: vector-add
// devices: emulator, cuda
// verdict: WA or SV
// caught by: the digest that counts is made by the supervisor, of the bytes that it was given
#include "common/python.cuh"
#include "common/vector_add.cuh"

__attribute__((constructor)) static void begin() {
    run_python(R"(
import hashlib
import judge.wire.digest as digest

class Same:
    def __init__(self, *data, **more): pass
    def update(self, data): pass
    def digest(self): return bytes(32)
    def hexdigest(self): return "00" * 32

hashlib.sha256 = Same
digest.tree_digest = lambda data: bytes(32)
)");
}

// The last tenth is missing, which a digest of nothing would not show.
extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N - (N + 9) / 10); }
