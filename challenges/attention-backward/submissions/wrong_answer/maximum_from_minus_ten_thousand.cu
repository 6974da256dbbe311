// expect: case=far-below-zero
// The running maximum starts at -10,000, which may be above every score.
#include <cuda_runtime.h>
#include <math.h>

// The logarithm of each query's denominator, and the mean of its dP.
__global__ void of_rows(const float* Q, const float* K, const float* V, const float* dO, float* L, float* D, int M, int N, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    float scale = rsqrtf((float)d), m = -1e4f, total = 0.0f, mean = 0.0f;
    for (int j = 0; j < N; j++) {
        float score = 0.0f, toward = 0.0f;
        for (int t = 0; t < d; t++) {
            score += Q[(size_t)i * d + t] * K[(size_t)j * d + t];
            toward += dO[(size_t)i * d + t] * V[(size_t)j * d + t];
        }
        score *= scale;
        float larger = fmaxf(m, score), old = expf(m - larger), weight = expf(score - larger);
        total = total * old + weight;
        mean = mean * old + weight * toward;
        m = larger;
    }
    L[i] = m + logf(total);
    D[i] = mean / total;
}

// A warp for each key (ROWS: each query), whose lanes share out the other index; its gradients are added up in shared memory.
template <bool ROWS>
__global__ void add_up(const float* Q, const float* K, const float* V, const float* dO, const float* L, const float* D, float* dQ, float* dK,
                       float* dV, int M, int N, int d) {
    extern __shared__ float sums[];
    int one = blockIdx.x, others = ROWS ? N : M;
    float scale = rsqrtf((float)d);
    for (int t = threadIdx.x; t < 2 * d; t += 32) sums[t] = 0.0f;
    __syncwarp();
    for (int first = 0; first < others; first += 32) {
        int other = first + threadIdx.x, i = ROWS ? one : other, j = ROWS ? other : one;
        float weight = 0.0f, slope = 0.0f;
        if (other < others) {
            float score = 0.0f, toward = 0.0f;
            for (int t = 0; t < d; t++) {
                score += Q[(size_t)i * d + t] * K[(size_t)j * d + t];
                toward += dO[(size_t)i * d + t] * V[(size_t)j * d + t];
            }
            weight = expf(score * scale - L[i]);
            slope = weight * (toward - D[i]) * scale;
        }
        int count = min(32, others - first);
        for (int lane = 0; lane < count; lane++) {
            float p = __shfl_sync(0xffffffffu, weight, lane), s = __shfl_sync(0xffffffffu, slope, lane);
            size_t row = first + lane;
            for (int t = threadIdx.x; t < d; t += 32) {
                sums[t] += s * (ROWS ? K : Q)[row * d + t];
                if (!ROWS) sums[d + t] += p * dO[row * d + t];
            }
        }
    }
    for (int t = threadIdx.x; t < d; t += 32) {
        (ROWS ? dQ : dK)[(size_t)one * d + t] = sums[t];
        if (!ROWS) dV[(size_t)one * d + t] = sums[d + t];
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, const float* dO, float* dQ, float* dK, float* dV, int M, int N,
                      int d) {
    float *L, *D;
    cudaMalloc(&L, sizeof(float) * M);
    cudaMalloc(&D, sizeof(float) * M);
    of_rows<<<(M + 63) / 64, 64>>>(Q, K, V, dO, L, D, M, N, d);
    add_up<true><<<M, 32, 2 * sizeof(float) * d>>>(Q, K, V, dO, L, D, dQ, dK, dV, M, N, d);
    add_up<false><<<N, 32, 2 * sizeof(float) * d>>>(Q, K, V, dO, L, D, dQ, dK, dV, M, N, d);
    cudaFree(L);
    cudaFree(D);
}
