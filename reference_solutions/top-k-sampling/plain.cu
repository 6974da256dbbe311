// A block for each row finds the next smaller logit k times; one thread then draws.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 256, MAX_K = 1024;

// Among equal logits the lower token comes first.
__device__ bool before(float a, int i, float b, int j) { return a > b || (a == b && i < j); }

__global__ void draw(const float* logits, const float* uniforms, int* tokens, int vocab_size, int k, float temperature) {
    __shared__ float value[THREADS], picked[MAX_K];
    __shared__ int index[THREADS], token[MAX_K];
    const float* row = logits + (size_t)blockIdx.x * vocab_size;
    int t = threadIdx.x, last_index = -1;
    float last = INFINITY;
    for (int rank = 0; rank < k; rank++) {
        float best = -INFINITY;
        int at = vocab_size;
        for (int i = t; i < vocab_size; i += THREADS) {
            if (before(last, last_index, row[i], i) && before(row[i], i, best, at)) {
                best = row[i];
                at = i;
            }
        }
        value[t] = best;
        index[t] = at;
        __syncthreads();
        for (int stride = THREADS / 2; stride > 0; stride /= 2) {
            if (t < stride && before(value[t + stride], index[t + stride], value[t], index[t])) {
                value[t] = value[t + stride];
                index[t] = index[t + stride];
            }
            __syncthreads();
        }
        last = value[0];
        last_index = index[0];
        if (t == 0) {
            picked[rank] = last;
            token[rank] = last_index;
        }
        __syncthreads();
    }
    if (t > 0) return;
    float total = 0.0f, sum = 0.0f;
    for (int i = 0; i < k; i++) total += expf((picked[i] - picked[0]) / temperature);
    int rank = 0;
    for (; rank < k - 1; rank++) {
        sum += expf((picked[rank] - picked[0]) / temperature);
        if (sum > uniforms[blockIdx.x] * total) break;
    }
    tokens[blockIdx.x] = token[rank];
}

extern "C" void solve(const float* logits, const float* uniforms, int* tokens, int batch, int vocab_size, int k, float temperature) {
    draw<<<batch, THREADS>>>(logits, uniforms, tokens, vocab_size, k, temperature);
}
