// expect: case=few-far-below-zero
// One block; threads without a number bring 0, which is larger than numbers below zero.
#include <cuda_runtime.h>

__global__ void largest(const float* input, int* index, int n) {
    __shared__ float value[1024];
    __shared__ int place[1024];
    int i = threadIdx.x;
    float mine = i < n ? input[i] : 0.0f;
    int at = i < n ? i : 0;
    for (int j = i + 1024; j < n; j += 1024) {
        if (input[j] > mine) mine = input[j], at = j;
    }
    value[i] = mine, place[i] = at;
    __syncthreads();
    for (int half = 512; half > 0; half /= 2) {
        if (i < half && (value[i + half] > value[i] || (value[i + half] == value[i] && place[i + half] < place[i]))) {
            value[i] = value[i + half], place[i] = place[i + half];
        }
        __syncthreads();
    }
    if (i == 0) *index = place[0];
}

extern "C" void solve(const float* input, int* index, int N) { largest<<<1, 1024>>>(input, index, N); }
