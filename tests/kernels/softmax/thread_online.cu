// A thread to a row, maximum and sum kept up in one pass, a second pass to divide.
#include <cuda_runtime.h>
#include <math.h>

__global__ void softmax(const float *in, float *out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float *from = in + (size_t)row * columns;
    float *to = out + (size_t)row * columns;
    float largest = -INFINITY, sum = 0;
    for (int i = 0; i < columns; i++) {
        float value = from[i], next = fmaxf(largest, value);
        sum = sum * expf(largest - next) + expf(value - next);
        largest = next;
    }
    for (int i = 0; i < columns; i++) to[i] = expf(from[i] - largest) / sum;
}

extern "C" void solve(const float *in, float *out, int rows, int columns) {
    softmax<<<(rows + 63) / 64, 64>>>(in, out, rows, columns);
}
