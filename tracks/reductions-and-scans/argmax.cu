// One block of 1024 threads goes through the input; each thread keeps a pair of value and place, and shared memory reduces them.
#include <cuda_runtime.h>

constexpr int THREADS = 1024;

__global__ void find(const float* input, int* index, int N) {
    __shared__ float values[THREADS];
    __shared__ int places[THREADS];
    int t = threadIdx.x;
    float value = -__int_as_float(0x7f800000);
    int place = N;
    for (int i = t; i < N; i += THREADS) {
        if (place == N || input[i] > value) {
            value = input[i];
            place = i;
        }
    }
    values[t] = value;
    places[t] = place;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            float other = values[t + half];
            int its_place = places[t + half];
            if (other > values[t] || (other == values[t] && its_place < places[t])) {
                values[t] = other;
                places[t] = its_place;
            }
        }
    }
    if (t == 0) *index = places[0];
}

extern "C" void solve(const float* input, int* index, int N) { find<<<1, THREADS>>>(input, index, N); }
