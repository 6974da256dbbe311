// Scores, softmax and weighted sums by a launch each; the scores go through global memory.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int WIDTH = 64;

__global__ void make_scores(const half *Q, const half *K, float *S, int length) {
    int key = blockIdx.x * blockDim.x + threadIdx.x, query = blockIdx.y, head = blockIdx.z;
    if (key >= length) return;
    const half *q = Q + ((size_t)head * length + query) * WIDTH, *k = K + ((size_t)head * length + key) * WIDTH;
    float sum = 0;
    for (int i = 0; i < WIDTH; i++) sum += __half2float(q[i]) * __half2float(k[i]);
    S[((size_t)head * length + query) * length + key] = sum * 0.125f;
}

__global__ void softmax(float *S, int length) {
    __shared__ float part[128];
    float *row = S + (size_t)blockIdx.x * length;
    int t = threadIdx.x;
    float largest = -1e30f, sum = 0;
    for (int i = t; i < length; i += 128) largest = fmaxf(largest, row[i]);
    part[t] = largest;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    largest = part[0];
    __syncthreads();
    for (int i = t; i < length; i += 128) sum += row[i] = expf(row[i] - largest);
    part[t] = sum;
    __syncthreads();
    for (int s = 64; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    for (int i = t; i < length; i += 128) row[i] /= part[0];
}

__global__ void weigh(const float *S, const half *V, float *out, int length) {
    int column = threadIdx.x, query = blockIdx.x * blockDim.y + threadIdx.y, head = blockIdx.y;
    if (query >= length) return;
    const float *row = S + ((size_t)head * length + query) * length;
    float sum = 0;
    for (int i = 0; i < length; i++) sum += row[i] * __half2float(V[((size_t)head * length + i) * WIDTH + column]);
    out[((size_t)head * length + query) * WIDTH + column] = sum;
}

extern "C" void solve(const half *Q, const half *K, const half *V, float *out, int heads, int length) {
    static float *scores = nullptr;
    static size_t room = 0;
    size_t needed = (size_t)heads * length * length;
    if (room < needed) {
        cudaFree(scores);
        cudaMalloc(&scores, needed * sizeof(float));
        room = needed;
    }
    make_scores<<<dim3((length + 127) / 128, length, heads), 128>>>(Q, K, scores, length);
    softmax<<<heads * length, 128>>>(scores, length);
    weigh<<<dim3((length + 3) / 4, heads), dim3(WIDTH, 4)>>>(scores, V, out, length);
}
