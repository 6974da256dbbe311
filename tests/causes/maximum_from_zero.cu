// challenge: softmax
// verdict: WA
// mode: SUBMIT
// headline: the maximum on line 15 starts at 0 or takes it in; with -INFINITY instead, the answer is right
// told: output[0] is nan
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float shared[256];
    int t = threadIdx.x;

    float largest = 0.0f;
    for (int i = t; i < N; i += 256) {
        largest = fmaxf(largest, input[i]);
    }
    shared[t] = largest;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) shared[t] = fmaxf(shared[t], shared[t + half]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int i = t; i < N; i += 256) sum += expf(input[i] - largest);
    shared[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) shared[t] += shared[t + half];
        __syncthreads();
    }
    for (int i = t; i < N; i += 256) output[i] = expf(input[i] - largest) / shared[0];
}

extern "C" void solve(const float* input, float* output, int N) {
    softmax<<<1, 256>>>(input, output, N);
    cudaDeviceSynchronize();
}
