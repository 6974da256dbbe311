// Scores and dP go to memory as whole matrices; a block turns each row into weights and dS; a thread per element makes the
// three gradients.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 128;

__global__ void products(const float* Q, const float* K, const float* V, const float* dO, float* P, float* S, int M, int N, int d) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    size_t i = blockIdx.y;
    if (j >= N) return;
    float score = 0.0f, toward = 0.0f;
    for (int t = 0; t < d; t++) {
        score += Q[i * d + t] * K[(size_t)j * d + t];
        toward += dO[i * d + t] * V[(size_t)j * d + t];
    }
    P[i * N + j] = score / sqrtf((float)d);
    S[i * N + j] = toward;
}

__device__ float combine(float value, bool sum) {
    __shared__ float shared[THREADS];
    int t = threadIdx.x;
    shared[t] = value;
    __syncthreads();
    for (int stride = THREADS / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = sum ? shared[t] + shared[t + stride] : fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    value = shared[0];
    __syncthreads();
    return value;
}

__global__ void slopes(float* P, float* S, int N) {
    P += (size_t)blockIdx.x * N;
    S += (size_t)blockIdx.x * N;
    float largest = -INFINITY, total = 0.0f, mean = 0.0f;
    for (int j = threadIdx.x; j < N; j += THREADS) largest = fmaxf(largest, P[j]);
    largest = combine(largest, false);
    for (int j = threadIdx.x; j < N; j += THREADS) {
        P[j] = expf(P[j] - largest);
        total += P[j];
    }
    total = combine(total, true);
    for (int j = threadIdx.x; j < N; j += THREADS) {
        P[j] /= total;
        mean += P[j] * S[j];
    }
    mean = combine(mean, true);
    for (int j = threadIdx.x; j < N; j += THREADS) S[j] = P[j] * (S[j] - mean);
}

__global__ void of_queries(const float* S, const float* K, float* dQ, int M, int N, int d) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= M * d) return;
    size_t i = at / d, t = at % d;
    float sum = 0.0f;
    for (int j = 0; j < N; j++) sum += S[i * N + j] * K[(size_t)j * d + t];
    dQ[at] = sum / sqrtf((float)d);
}

__global__ void of_keys(const float* P, const float* S, const float* Q, const float* dO, float* dK, float* dV, int M, int N, int d) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= N * d) return;
    size_t j = at / d, t = at % d;
    float key = 0.0f, value = 0.0f;
    for (size_t i = 0; i < M; i++) {
        key += S[i * N + j] * Q[i * d + t];
        value += P[i * N + j] * dO[i * d + t];
    }
    dK[at] = key / sqrtf((float)d);
    dV[at] = value;
}

extern "C" void solve(const float* Q, const float* K, const float* V, const float* dO, float* dQ, float* dK, float* dV, int M, int N,
                      int d) {
    float *P, *S;
    cudaMalloc(&P, sizeof(float) * M * N);
    cudaMalloc(&S, sizeof(float) * M * N);
    products<<<dim3((N + THREADS - 1) / THREADS, M), THREADS>>>(Q, K, V, dO, P, S, M, N, d);
    slopes<<<M, THREADS>>>(P, S, N);
    of_queries<<<(M * d + THREADS - 1) / THREADS, THREADS>>>(S, K, dQ, M, N, d);
    of_keys<<<(N * d + THREADS - 1) / THREADS, THREADS>>>(P, S, Q, dO, dK, dV, M, N, d);
    cudaFree(S);
    cudaFree(P);
}
