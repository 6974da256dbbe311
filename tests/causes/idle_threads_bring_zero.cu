// challenge: argmax
// verdict: WA
// mode: SUBMIT
// headline: the maximum on line
// told: starts at 0 or takes it in
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

// One block: threads without an element bring 0 and index 0.
__global__ void largest(const float* input, int* index, int N) {
    __shared__ float values[THREADS];
    __shared__ int places[THREADS];
    int t = threadIdx.x, share = (N + THREADS - 1) / THREADS;
    float value = 0.0f;
    int place = 0;
    for (int i = t * share; i < N && i < (t + 1) * share; i++) {
        if (i == t * share || input[i] > value) {
            value = input[i];
            place = i;
        }
    }
    values[t] = value;
    places[t] = place;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half && values[t + half] > values[t]) {
            values[t] = values[t + half];
            places[t] = places[t + half];
        }
        __syncthreads();
    }
    if (t == 0) *index = places[0];
}

extern "C" void solve(const float* input, int* index, int N) {
    largest<<<1, THREADS>>>(input, index, N);
    cudaDeviceSynchronize();
}
