// A kernel for each step: a thread per element of a product, a block per token for a norm, a block per token and head for attention.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WIDTH = 768, HEADS = 12, HEAD = 64, HIDDEN = 3072, THREADS = 128;

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

__global__ void norm(const float* x, const float* gain, const float* bias, float* y) {
    x += blockIdx.x * WIDTH;
    y += blockIdx.x * WIDTH;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) sum += x[i];
    float mean = combine(sum, true) / WIDTH;
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) squares += (x[i] - mean) * (x[i] - mean);
    float deviation = sqrtf(combine(squares, true) / WIDTH + 1e-5f);
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) y[i] = gain[i] * (x[i] - mean) / deviation + bias[i];
}

// y = x W + bias, then GELU, or with `add` added.
__global__ void product(const float* x, const float* W, const float* bias, const float* add, float* y, int inputs, int outputs, bool gelu) {
    int c = blockIdx.x * THREADS + threadIdx.x, r = blockIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < inputs; k++) sum += x[r * inputs + k] * W[k * outputs + c];
    sum += bias[c];
    if (gelu) sum *= 0.5f * (1.0f + tanhf(0.7978845608028654f * (sum + 0.044715f * sum * sum * sum)));
    y[r * outputs + c] = add ? add[r * outputs + c] + sum : sum;
}

__global__ void attend(const float* qkv, float* out, int n) {
    extern __shared__ float scores[];
    int row = blockIdx.x, head = blockIdx.y * HEAD;
    const float* q = qkv + row * 3 * WIDTH + head;
    float largest = -INFINITY, total = 0.0f;
    for (int j = threadIdx.x; j < n; j += THREADS) {
        const float* k = qkv + j * 3 * WIDTH + WIDTH + head;
        float sum = 0.0f;
        for (int t = 0; t < HEAD; t++) sum += q[t] * k[t];
        scores[j] = sum / 8.0f;
        largest = fmaxf(largest, scores[j]);
    }
    largest = combine(largest, false);
    for (int j = threadIdx.x; j < n; j += THREADS) {
        scores[j] = expf(scores[j] - largest);
        total += scores[j];
    }
    total = combine(total, true);
    for (int t = threadIdx.x; t < HEAD; t += THREADS) {
        float sum = 0.0f;
        for (int j = 0; j < n; j++) sum += scores[j] * qkv[j * 3 * WIDTH + 2 * WIDTH + head + t];
        out[row * WIDTH + head + t] = sum / total;
    }
}

extern "C" void solve(const float* x, float* output, const float* weights, int seq_len) {
    int n = seq_len;
    float *normed, *wide, *heads, *middle;
    cudaMalloc(&normed, sizeof(float) * n * WIDTH);
    cudaMalloc(&wide, sizeof(float) * n * HIDDEN);
    cudaMalloc(&heads, sizeof(float) * n * WIDTH);
    cudaMalloc(&middle, sizeof(float) * n * WIDTH);
    const float* w = weights;
    norm<<<n, THREADS>>>(x, w, w + 768, normed);
    product<<<dim3(3 * WIDTH / THREADS, n), THREADS>>>(normed, w + 1536, w + 1771008, nullptr, wide, WIDTH, 3 * WIDTH, false);
    attend<<<dim3(n, HEADS), THREADS, sizeof(float) * n>>>(wide, heads, n);
    product<<<dim3(WIDTH / THREADS, n), THREADS>>>(heads, w + 1773312, w + 2363136, x, middle, WIDTH, WIDTH, false);
    norm<<<n, THREADS>>>(middle, w + 2363904, w + 2364672, normed);
    product<<<dim3(HIDDEN / THREADS, n), THREADS>>>(normed, w + 2365440, w + 4724736, nullptr, wide, WIDTH, HIDDEN, true);
    product<<<dim3(WIDTH / THREADS, n), THREADS>>>(wide, w + 4727808, w + 7087104, middle, output, HIDDEN, WIDTH, false);
    cudaFree(middle);
    cudaFree(heads);
    cudaFree(wide);
    cudaFree(normed);
}
