// The textbook way: scores to memory, a softmax over each row, a product with V.
#include <cuda_runtime.h>
#include <math.h>

__global__ void score(const float* Q, const float* K, float* S, int M, int N, int d) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || j >= N) return;
    float sum = 0.0f;
    for (int t = 0; t < d; t++) sum += Q[(size_t)i * d + t] * K[(size_t)j * d + t];
    S[(size_t)i * N + j] = sum / sqrtf((float)d);
}

__global__ void softmax_rows(float* S, int N) {
    __shared__ float shared[128];
    float* row = S + (size_t)blockIdx.x * N;
    int t = threadIdx.x;

    float largest = -INFINITY;
    for (int j = t; j < N; j += blockDim.x) largest = fmaxf(largest, row[j]);
    shared[t] = largest;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] = fmaxf(shared[t], shared[t + stride]);
        __syncthreads();
    }
    largest = shared[0];
    __syncthreads();

    float sum = 0.0f;
    for (int j = t; j < N; j += blockDim.x) {
        row[j] = expf(row[j] - largest);
        sum += row[j];
    }
    shared[t] = sum;
    __syncthreads();
    for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (t < stride) shared[t] += shared[t + stride];
        __syncthreads();
    }
    sum = shared[0];
    for (int j = t; j < N; j += blockDim.x) row[j] /= sum;
}

__global__ void weigh(const float* S, const float* V, float* output, int M, int N, int d) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= M || t >= d) return;
    float sum = 0.0f;
    for (int j = 0; j < N; j++) sum += S[(size_t)i * N + j] * V[(size_t)j * d + t];
    output[(size_t)i * d + t] = sum;
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    float* S;
    cudaMalloc(&S, sizeof(float) * M * N);
    dim3 threads(32, 8);
    score<<<dim3((N + 31) / 32, (M + 7) / 8), threads>>>(Q, K, S, M, N, d);
    softmax_rows<<<M, 128>>>(S, N);
    weigh<<<dim3((d + 31) / 32, (M + 7) / 8), threads>>>(S, V, output, M, N, d);
    cudaFree(S);
}
