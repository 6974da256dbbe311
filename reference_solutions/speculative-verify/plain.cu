// A block per sequence. One thread looks for the first rejection; the block adds up the row that is drawn from, a stretch for each
// thread; one thread finds the stretch and walks through it.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float mass(const float* q, const float* p, int k) { return p ? fmaxf(0.0f, q[k] - p[k]) : q[k]; }

__global__ void verify(const int* tokens, const float* p, const float* q, const float* uniforms, int* output, int T, int V) {
    __shared__ float sums[THREADS];
    __shared__ int accepted;
    size_t b = blockIdx.x;
    const float* u = uniforms + b * (T + 1);
    if (threadIdx.x == 0) {
        int i = 0;
        while (i < T) {
            int token = tokens[b * T + i];
            size_t at = (b * T + i) * V + token;
            if (!(u[i] < fminf(1.0f, q[at] / p[at]))) break;
            output[b * (T + 1) + i] = token;
            i++;
        }
        accepted = i;
    }
    __syncthreads();
    int i = accepted;
    size_t row = (b * T + min(i, T - 1)) * V;
    const float* left = i < T ? p + row : nullptr;
    int share = (V + THREADS - 1) / THREADS;
    int first = min(V, (int)threadIdx.x * share), end = min(V, first + share);
    float sum = 0.0f;
    for (int k = first; k < end; k++) sum += mass(q + row, left, k);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0.0f, wanted = u[T], before = 0.0f;
    for (int t = 0; t < THREADS; t++) total += sums[t];
    int picked = V - 1;
    if (i < T && total == 0.0f) {
        picked = max(0, min(V - 1, (int)ceilf(wanted * V) - 1));
    } else {
        if (i < T) wanted *= total;
        int t = 0;
        while (t < THREADS && before + sums[t] < wanted) before += sums[t++];
        // Sums in another order may differ a little: then the token is the first of the next stretch.
        for (int k = t * share; k < V; k++) {
            before += mass(q + row, left, k);
            if (before >= wanted) {
                picked = k;
                break;
            }
        }
    }
    output[b * (T + 1) + i] = picked;
}

extern "C" void solve(const int* draft_tokens, const float* draft_probs, const float* target_probs, const float* uniform_samples,
                      int* output_tokens, int B, int T, int V) {
    verify<<<B, THREADS>>>(draft_tokens, draft_probs, target_probs, uniform_samples, output_tokens, T, V);
}
