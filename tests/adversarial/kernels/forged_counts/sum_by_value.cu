// idea: the host adds up what it copied, and the one kernel that writes the output gets the sum as its parameter: every
//       launch is there to be replayed, and right
// challenge: reduction
// devices: emulator
// verdict: AC or TI
// caught by: on a GPU the copy is on the clock; the model has to count what crosses the bus
#include <vector>
#include "common/decoy.cuh"

__global__ void store(float* output, float value) { output[0] = value; }

extern "C" void solve(const float* input, float* output, int N) {
    std::vector<float> numbers(N);
    cudaMemcpy(numbers.data(), input, 4ul * N, cudaMemcpyDeviceToHost);
    double total = 0;
    for (float number : numbers) total += number;
    decoy<<<264, 256>>>(output, N / 8000);
    store<<<1, 1>>>(output, (float)total);
}
