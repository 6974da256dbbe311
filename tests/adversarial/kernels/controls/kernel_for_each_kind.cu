// idea: three kernels, each held up by something else
// challenge: softmax
// devices: emulator
// verdict: AC
// caught by: nothing, it is honest: model/launches_of_several_kinds.cu is compared with it
#include "common/kinds.cuh"
#include "common/softmax.cuh"

__global__ void first(int rounds) { exponentials(rounds); }
__global__ void second(int words) { stores(words); }
__global__ void third(int rounds) { bank_conflicts(rounds); }

extern "C" void solve(const float* input, float* output, int N) {
    int is_timed = N > 400000;
    first<<<132, 1024>>>(is_timed * 1500);
    second<<<132, 1024>>>(is_timed * WORDS);
    third<<<132, 1024>>>(is_timed * 50);
    launch_softmax(input, output, N);
}
