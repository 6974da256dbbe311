// Welford's recurrence by a thread to each row: one pass, but a division to each number and rows apart.
#include <cuda_runtime.h>

__global__ void norm(const float *in, const float *gamma, const float *beta, float *out, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float mean = 0, square = 0;
    for (int i = 0; i < columns; i++) {
        float value = in[(size_t)row * columns + i], delta = value - mean;
        mean += delta / (i + 1);
        square += delta * (value - mean);
    }
    float factor = 1.0f / sqrtf(square / columns + 1e-5f);
    for (int i = 0; i < columns; i++) {
        out[(size_t)row * columns + i] = (in[(size_t)row * columns + i] - mean) * factor * gamma[i] + beta[i];
    }
}

extern "C" void solve(const float *in, const float *gamma, const float *beta, float *out, int rows, int columns) {
    norm<<<(rows + 63) / 64, 64>>>(in, gamma, beta, out, rows, columns);
}
