// idea: has the compiler compute for ever: a constant expression without an end, within the limits of each of its parts
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: the compiler's time is bounded
#include "common/vector_add.cuh"

template <int N>
struct Slow {
    static constexpr long step(long x) {
        for (int i = 0; i < 200000; i++) x = x * 6364136223846793005l % 1000003 + N;
        return x;
    }
    static constexpr long value = step(Slow<N - 1>::value);
};
template <>
struct Slow<0> {
    static constexpr long value = 1;
};
static_assert(Slow<800>::value != 12345678);

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
