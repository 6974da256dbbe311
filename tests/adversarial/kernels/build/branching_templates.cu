// idea: has the compiler fill the machine's memory with template instances
// challenge: vector-add
// devices: emulator, cuda
// verdict: CE
// caught by: the compiler's memory is bounded as a whole
#include "common/vector_add.cuh"

template <int N, long M>
struct Tree {
    static constexpr long value = Tree<N - 1, 2 * M>::value + Tree<N - 1, 2 * M + 1>::value;
};
template <long M>
struct Tree<0, M> {
    static constexpr long value = M;
};
static const long nodes = Tree<40, 1>::value;

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N + (nodes == 7)); }
