// expect: case=constant-columns
// The mean of the squares less the square of the mean comes out below zero where a column is constant. Its root is NaN.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

// A block for each column.
__global__ void normalize(const float *input, const float *gamma, const float *beta, float *output, int N, int C,
                          float eps) {
    __shared__ float sums[THREADS], squares[THREADS];
    int c = blockIdx.x;
    float sum = 0, square = 0;
    for (int i = threadIdx.x; i < N; i += THREADS) {
        float x = input[(size_t)i * C + c];
        sum += x;
        square += x * x;
    }
    sums[threadIdx.x] = sum;
    squares[threadIdx.x] = square;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squares[threadIdx.x] += squares[threadIdx.x + half];
        }
        __syncthreads();
    }
    float mean = sums[0] / N;
    float scale = gamma[c] * rsqrtf(squares[0] / N - mean * mean + eps);
    for (int i = threadIdx.x; i < N; i += THREADS) {
        output[(size_t)i * C + c] = (input[(size_t)i * C + c] - mean) * scale + beta[c];
    }
}

extern "C" void solve(const float *input, const float *gamma, const float *beta, float *output, int N, int C,
                      float eps) {
    normalize<<<C, THREADS>>>(input, gamma, beta, output, N, C, eps);
}
