// idea: 64 elements, spread over the inputs, tell one input from another: if they are those of a call before, its answer
//       is still right
// challenge: reduction
// devices: emulator, cuda
// verdict: WA or AC
// caught by: near copies: inputs of an earlier call with a few elements changed. Otherwise no input comes twice
#include <cstring>
#include "common/reduction.cuh"

__global__ void sample(const float* input, float* out, int N) { out[threadIdx.x] = input[(long)threadIdx.x * N / 64]; }

extern "C" void solve(const float* input, float* output, int N) {
    static float* on_device = nullptr;
    static float samples[256][64], answers[256];
    static int sizes[256], known = 0;
    float now[64];
    if (!on_device) cudaMalloc(&on_device, sizeof now);
    sample<<<1, 64>>>(input, on_device, N);
    cudaMemcpy(now, on_device, sizeof now, cudaMemcpyDeviceToHost);
    for (int i = 0; i < known; i++) {
        if (sizes[i] != N || memcmp(samples[i], now, sizeof now) != 0) continue;
        cudaMemcpy(output, &answers[i], 4, cudaMemcpyHostToDevice);
        return;
    }
    launch_sum(input, output, N);
    int slot = known < 256 ? known++ : 0;
    cudaMemcpy(&answers[slot], output, 4, cudaMemcpyDeviceToHost);
    memcpy(samples[slot], now, sizeof now);
    sizes[slot] = N;
}
