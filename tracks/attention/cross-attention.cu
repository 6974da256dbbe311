// A block of 128 threads per query: the scores of the keys that it sees go to shared memory, then their maximum, their
// exponentials and the sum of those, and last every thread makes some columns of the output.
#include <cuda_runtime.h>
#include <math.h>

constexpr int THREADS = 128;

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

__global__ void attend(const float* Q, const float* K, const float* V, float* output, int M, int N, int H, int d) {
    extern __shared__ float score[];
    int i = blockIdx.x;
    int first = 0, end = N, stride = H * d;
    Q += blockIdx.y * d, K += blockIdx.y * d, V += blockIdx.y * d, output += blockIdx.y * d;
    const float* q = Q + (size_t)i * stride;
    float largest = -INFINITY;
    for (int j = first + threadIdx.x; j < end; j += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < d; t++) sum += q[t] * K[(size_t)j * stride + t];
        sum = sum / sqrtf((float)d);
        score[j - first] = sum;
        largest = fmaxf(largest, sum);
    }
    largest = combine(largest, false);
    float total = 0.0f;
    for (int j = first + threadIdx.x; j < end; j += THREADS) {
        score[j - first] = expf(score[j - first] - largest);
        total += score[j - first];
    }
    total = combine(total, true);
    for (int t = threadIdx.x; t < d; t += THREADS) {
        float sum = 0.0f;
        for (int j = first; j < end; j++) sum += score[j - first] * V[(size_t)j * stride + t];
        output[(size_t)i * stride + t] = sum / total;
    }
}

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int H, int D) {
    attend<<<dim3(M, H), THREADS, sizeof(float) * (N)>>>(Q, K, V, output, M, N, H, D);
}
