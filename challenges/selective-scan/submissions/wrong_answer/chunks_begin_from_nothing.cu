// expect: case=long-memory
// Chunks of the sequence are scanned at the same time; each begins with a state of zero, 3000 steps before its own
// first.

#include "solve.h"

constexpr int CHUNK = 1024;
constexpr int STEPS_BEFORE = 3000;

__global__ void scan_chunk(const float *u, const float *delta, const float *A, const float *B, const float *C,
                           const float *skip, float *y, int batch, int seq_len, int d_model, int d_state, int chunks) {
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= batch * d_model * chunks) return;
    int channel = thread % d_model, chunk = thread / d_model % chunks, row = thread / d_model / chunks;
    int first = chunk * CHUNK, end = min(seq_len, first + CHUNK);
    for (int step = first; step < end; ++step) {
        size_t at = ((size_t)row * seq_len + step) * d_model + channel;
        y[at] = skip[channel] * u[at];
    }
    for (int s = 0; s < d_state; ++s) {
        float state = 0.0f, rate = A[channel * d_state + s];
        for (int step = max(0, first - STEPS_BEFORE); step < end; ++step) {
            size_t position = (size_t)row * seq_len + step, at = position * d_model + channel;
            state = expf(delta[at] * rate) * state + delta[at] * B[position * d_state + s] * u[at];
            if (step >= first) y[at] += C[position * d_state + s] * state;
        }
    }
}

extern "C" void solve(const float *u, const float *delta, const float *A, const float *B, const float *C,
                      const float *skip, float *y, int batch, int seq_len, int d_model, int d_state) {
    int chunks = (seq_len + CHUNK - 1) / CHUNK, threads = batch * d_model * chunks;
    scan_chunk<<<(threads + 63) / 64, 64>>>(u, delta, A, B, C, skip, y, batch, seq_len, d_model, d_state, chunks);
}
