// idea: the host adds up the inputs where they crossed into the process, and passes the sum by value. Four bytes are
//       copied to the host, so that it seems to have learnt from the device what it passes
// challenge: reduction
// devices: emulator
// verdict: AC or TI or WA
// caught by: a replay that the host's numbers cannot fit, or the host's time on the model's clock
#include "common/decoy.cuh"
#include "common/shared.cuh"

__global__ void store(float* output, float value) { output[0] = value; }

extern "C" void solve(const float* input, float* output, int N) {
    const float* numbers = (const float*)shared_memory(false);
    float first = 0;
    cudaMemcpy(&first, input, 4, cudaMemcpyDeviceToHost);
    double total = 0;
    for (int i = 0; numbers && i < N; i++) total += numbers[i];
    decoy<<<264, 256>>>(output, N / 8000);
    store<<<1, 1>>>(output, (float)total);
}
