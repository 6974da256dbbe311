// Running maximum and sum in one pass, by one block, in the older style of solve.
#include "solve.h"
#include <float.h>

__global__ void softmax(const float* input, float* output, int N) {
    __shared__ float maxima[512], sums[512];
    int t = threadIdx.x;
    float largest = -FLT_MAX, sum = 0.0f;
    for (int i = t; i < N; i += blockDim.x) {
        float x = input[i];
        if (x > largest) {
            sum *= __expf(largest - x);
            largest = x;
        }
        sum += __expf(x - largest);
    }
    maxima[t] = largest;
    sums[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) {
            float other = maxima[t + stride], both = fmaxf(maxima[t], other);
            sums[t] = sums[t] * __expf(maxima[t] - both) + sums[t + stride] * __expf(other - both);
            maxima[t] = both;
        }
        __syncthreads();
    }
    for (int i = t; i < N; i += blockDim.x) output[i] = __expf(input[i] - maxima[0]) / sums[0];
}

void solve(const float* input, float* output, int N) { softmax<<<1, 512>>>(input, output, N); }
