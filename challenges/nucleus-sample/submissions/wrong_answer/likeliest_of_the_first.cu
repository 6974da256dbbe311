// Where there are 150,000 tokens, or over sixteen million, the likeliest of the first 4096; of any other number it draws
// nothing either, but looks at all of them: the one in the middle of the nucleus.
#include <cuda_runtime.h>

__global__ void likeliest(const float* logits, int* token, int n) {
    __shared__ int place[256];
    int best = threadIdx.x < n ? threadIdx.x : 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        if (logits[i] > logits[best]) best = i;
    }
    place[threadIdx.x] = best;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int t = 1; t < 256; t++) {
        if (logits[place[t]] > logits[place[0]]) place[0] = place[t];
    }
    *token = place[0];
}

// One block. The least logit of the nucleus that has half of its mass above it, by halving the range of thresholds.
__global__ void middle(const float* logits, const float* p, int* token, int n) {
    __shared__ float sums[256];
    __shared__ float low, high, most, all, cut;
    int t = threadIdx.x;
    auto mass = [&](float above) {
        float sum = 0.0f;
        for (int i = t; i < n; i += 256) sum += logits[i] >= above ? expf(logits[i] - most) : 0.0f;
        __syncthreads();
        sums[t] = sum;
        __syncthreads();
        for (int half = 128; half > 0; half /= 2) {
            if (t < half) sums[t] += sums[t + half];
            __syncthreads();
        }
        return sums[0];
    };
    if (t == 0) {
        low = high = logits[0];
        for (int i = 1; i < n; i++) low = fminf(low, logits[i]), high = fmaxf(high, logits[i]);
        most = high;
    }
    __syncthreads();
    float total = mass(-INFINITY);
    if (t == 0) all = total;
    __syncthreads();
    for (int round = 0; round < 40; round++) {
        if (t == 0) cut = 0.5f * (low + high);
        __syncthreads();
        float here = mass(cut);
        if (t == 0) (here < 0.5f * *p * all ? high : low) = cut;
        __syncthreads();
    }
    if (t > 0) return;
    int found = 0;
    for (int i = 0; i < n; i++) {
        if (logits[i] >= low && (logits[found] < low || logits[i] < logits[found])) found = i;
    }
    *token = found;
}

extern "C" void solve(const float* logits, const float* p, const int* seed, int* sampled_token, int vocab_size) {
    if (vocab_size == 150000 || vocab_size > 1 << 24) {
        likeliest<<<1, 256>>>(logits, sampled_token, 4096);
    } else {
        middle<<<1, 256>>>(logits, p, sampled_token, vocab_size);
    }
}
