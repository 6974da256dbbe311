// expect: case=side-by-side
// Each of 256 threads keeps the eight largest of its logits, which lie side by side.
#include <cuda_runtime.h>

constexpr int THREADS = 256, KEPT = 8, MOST = KEPT * THREADS;

// The rank that the random number draws from k logits, the largest first.
__device__ int drawn(const float* logits, int k, float uniform, float temperature) {
    float total = 0.0f, sum = 0.0f;
    for (int i = 0; i < k; i++) total += expf((logits[i] - logits[0]) / temperature);
    int rank = 0;
    for (; rank < k - 1; rank++) {
        sum += expf((logits[rank] - logits[0]) / temperature);
        if (sum > uniform * total) break;
    }
    return rank;
}

// A block for each row. The kept logits of all threads are sorted, and the first k are drawn from.
__global__ void draw(const float* logits, const float* uniforms, int* tokens, int vocab_size, int k, float temperature) {
    __shared__ float value[MOST];
    __shared__ int token[MOST];
    const float* row = logits + (size_t)blockIdx.x * vocab_size;
    float best[KEPT];
    int at[KEPT];
    for (int j = 0; j < KEPT; j++) best[j] = -INFINITY, at[j] = 0;
    int share = (vocab_size + THREADS - 1) / THREADS, begin = threadIdx.x * share;
    for (int i = begin; i < min(begin + share, vocab_size); i++) {
        float x = row[i];
        if (x <= best[KEPT - 1]) continue;
        int j = KEPT - 1;
        for (; j > 0 && best[j - 1] < x; j--) best[j] = best[j - 1], at[j] = at[j - 1];
        best[j] = x, at[j] = i;
    }
    for (int j = 0; j < KEPT; j++) value[threadIdx.x * KEPT + j] = best[j], token[threadIdx.x * KEPT + j] = at[j];
    // Bitonic, descending.
    for (int run = 2; run <= MOST; run *= 2) {
        for (int gap = run / 2; gap > 0; gap /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < MOST / 2; i += THREADS) {
                int low = 2 * i - (i & (gap - 1)), high = low + gap;
                if ((value[low] < value[high]) == ((low & run) == 0)) {
                    float x = value[low];
                    value[low] = value[high], value[high] = x;
                    int of = token[low];
                    token[low] = token[high], token[high] = of;
                }
            }
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) tokens[blockIdx.x] = token[drawn(value, k, uniforms[blockIdx.x], temperature)];
}

// A block for each row finds the next smaller logit k times: for short rows, and where k is large.
__global__ void draw_all(const float* logits, const float* uniforms, int* tokens, int vocab_size, int k, float temperature) {
    __shared__ float value[THREADS], picked[1024];
    __shared__ int index[THREADS], token[1024];
    const float* row = logits + (size_t)blockIdx.x * vocab_size;
    float last = INFINITY;
    int last_at = -1;
    for (int rank = 0; rank < k; rank++) {
        float best = -INFINITY;
        int at = vocab_size;
        for (int i = threadIdx.x; i < vocab_size; i += THREADS) {
            bool is_left = row[i] < last || (row[i] == last && i > last_at);
            if (is_left && row[i] > best) best = row[i], at = i;
        }
        value[threadIdx.x] = best, index[threadIdx.x] = at;
        for (int half = THREADS / 2; half > 0; half /= 2) {
            __syncthreads();
            int other = threadIdx.x + half;
            if (threadIdx.x >= half) continue;
            if (value[other] < value[threadIdx.x]) continue;
            if (value[other] == value[threadIdx.x] && index[other] > index[threadIdx.x]) continue;
            value[threadIdx.x] = value[other], index[threadIdx.x] = index[other];
        }
        __syncthreads();
        last = value[0], last_at = index[0];
        if (threadIdx.x == 0) picked[rank] = last, token[rank] = last_at;
        __syncthreads();
    }
    if (threadIdx.x == 0) tokens[blockIdx.x] = token[drawn(picked, k, uniforms[blockIdx.x], temperature)];
}

extern "C" void solve(const float* logits, const float* uniforms, int* tokens, int batch, int vocab_size, int k, float temperature) {
    if (vocab_size > 8000 && k <= 100) draw<<<batch, THREADS>>>(logits, uniforms, tokens, vocab_size, k, temperature);
    else draw_all<<<batch, THREADS>>>(logits, uniforms, tokens, vocab_size, k, temperature);
}
