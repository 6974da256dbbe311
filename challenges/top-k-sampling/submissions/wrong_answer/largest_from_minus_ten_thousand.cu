// expect: case=far-below-zero
// The largest logit is looked for from -10,000, which may be above all of them.
#include <cuda_runtime.h>

// A block for each row finds its likeliest token, strikes it out, and so on.
__global__ void sample(const float *logits, const float *uniforms, int *tokens, float *left, int V, int k, float T) {
    __shared__ float values[256], picked[1024];
    __shared__ int places[256], chosen[1024];
    const float *row = logits + (size_t)blockIdx.x * V;
    float *own = left + (size_t)blockIdx.x * V;
    for (int j = threadIdx.x; j < V; j += 256) own[j] = row[j];
    __syncthreads();
    for (int t = 0; t < k; t++) {
        float best = -1e4f;
        int place = 0;
        for (int j = threadIdx.x; j < V; j += 256)
            if (own[j] > best) {
                best = own[j];
                place = j;
            }
        values[threadIdx.x] = best;
        places[threadIdx.x] = place;
        __syncthreads();
        for (int half = 128; half; half /= 2) {
            if (threadIdx.x < half && values[threadIdx.x + half] > values[threadIdx.x]) {
                values[threadIdx.x] = values[threadIdx.x + half];
                places[threadIdx.x] = places[threadIdx.x + half];
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            picked[t] = values[0];
            chosen[t] = places[0];
            own[places[0]] = -INFINITY;
        }
        __syncthreads();
    }
    if (threadIdx.x) return;
    float total = 0.0f, sum = 0.0f;
    for (int t = 0; t < k; t++) total += expf((picked[t] - picked[0]) / T);
    int t = 0;
    for (; t < k - 1; t++) {
        sum += expf((picked[t] - picked[0]) / T);
        if (sum > uniforms[blockIdx.x] * total) break;
    }
    tokens[blockIdx.x] = chosen[t];
}

extern "C" void solve(const float *logits, const float *uniforms, int *tokens, int batch, int vocab_size, int k,
                      float temperature) {
    float *left;
    cudaMalloc(&left, sizeof(float) * batch * vocab_size);
    sample<<<batch, 256>>>(logits, uniforms, tokens, left, vocab_size, k, temperature);
    cudaFree(left);
}
