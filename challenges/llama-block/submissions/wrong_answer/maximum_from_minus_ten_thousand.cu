// expect: case=far-below-zero
// The maximum of scores starts at -10,000, which may be above all of them.
#include <cuda_runtime.h>
#include <math.h>

constexpr int WIDTH = 512, HEADS = 8, HEAD = 64, KEYS = 128, HIDDEN = 1408, THREADS = 128;

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

__global__ void norm(const float* x, const float* gain, float* y) {
    x += blockIdx.x * WIDTH;
    y += blockIdx.x * WIDTH;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) squares += x[i] * x[i];
    float root = sqrtf(combine(squares, true) / WIDTH + 1e-5f);
    for (int i = threadIdx.x; i < WIDTH; i += THREADS) y[i] = gain[i] * x[i] / root;
}

// y = x times W transposed, with `add` added.
__global__ void product(const float* x, const float* W, const float* add, float* y, int inputs, int outputs) {
    int c = blockIdx.x * THREADS + threadIdx.x, r = blockIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < inputs; k++) sum += x[r * inputs + k] * W[c * inputs + k];
    y[r * outputs + c] = add ? add[r * outputs + c] + sum : sum;
}

// A block per token: turns its heads, a thread for each pair.
__global__ void rotate(float* heads, const float* cosines, const float* sines, int width) {
    int i = blockIdx.x;
    for (int pair = threadIdx.x; pair < width / 2; pair += THREADS) {
        float* u = heads + i * width + pair / 32 * HEAD + pair % 32;
        float c = cosines[i * 32 + pair % 32], s = sines[i * 32 + pair % 32], left = u[0], right = u[32];
        u[0] = left * c - right * s;
        u[32] = left * s + right * c;
    }
}

__global__ void attend(const float* Q, const float* K, const float* V, float* out) {
    extern __shared__ float scores[];
    int row = blockIdx.x, head = blockIdx.y, shared = head / 4 * HEAD;
    const float* q = Q + row * WIDTH + head * HEAD;
    float largest = -1e4f, total = 0.0f;
    for (int j = threadIdx.x; j <= row; j += THREADS) {
        float sum = 0.0f;
        for (int t = 0; t < HEAD; t++) sum += q[t] * K[j * KEYS + shared + t];
        scores[j] = sum / 8.0f;
        largest = fmaxf(largest, scores[j]);
    }
    largest = combine(largest, false);
    for (int j = threadIdx.x; j <= row; j += THREADS) {
        scores[j] = expf(scores[j] - largest);
        total += scores[j];
    }
    total = combine(total, true);
    for (int t = threadIdx.x; t < HEAD; t += THREADS) {
        float sum = 0.0f;
        for (int j = 0; j <= row; j++) sum += scores[j] * V[j * KEYS + shared + t];
        out[row * WIDTH + head * HEAD + t] = sum / total;
    }
}

__global__ void gate(float* gates, const float* ups) {
    int at = blockIdx.x * THREADS + threadIdx.x;
    gates[at] = gates[at] / (1.0f + expf(-gates[at])) * ups[at];
}

extern "C" void solve(const float* x, float* output, const float* weights, const float* cos, const float* sin, int seq_len) {
    int n = seq_len;
    const float* w = weights;
    float* memory;
    cudaMalloc(&memory, sizeof(float) * n * (4 * WIDTH + 2 * KEYS + 2 * HIDDEN));
    float *normed = memory, *q = normed + n * WIDTH, *heads = q + n * WIDTH, *middle = heads + n * WIDTH, *k = middle + n * WIDTH;
    float *v = k + n * KEYS, *gates = v + n * KEYS, *ups = gates + n * HIDDEN;
    dim3 wide(WIDTH / THREADS, n), narrow(KEYS / THREADS, n), hidden(HIDDEN / THREADS, n);
    norm<<<n, THREADS>>>(x, w, normed);
    product<<<wide, THREADS>>>(normed, w + 512, nullptr, q, WIDTH, WIDTH);
    product<<<narrow, THREADS>>>(normed, w + 262656, nullptr, k, WIDTH, KEYS);
    product<<<narrow, THREADS>>>(normed, w + 328192, nullptr, v, WIDTH, KEYS);
    rotate<<<n, THREADS>>>(q, cos, sin, WIDTH);
    rotate<<<n, THREADS>>>(k, cos, sin, KEYS);
    attend<<<dim3(n, HEADS), THREADS, sizeof(float) * n>>>(q, k, v, heads);
    product<<<wide, THREADS>>>(heads, w + 393728, x, middle, WIDTH, WIDTH);
    norm<<<n, THREADS>>>(middle, w + 655872, normed);
    product<<<hidden, THREADS>>>(normed, w + 656384, nullptr, gates, WIDTH, HIDDEN);
    product<<<hidden, THREADS>>>(normed, w + 1377280, nullptr, ups, WIDTH, HIDDEN);
    gate<<<n * HIDDEN / THREADS, THREADS>>>(gates, ups);
    product<<<wide, THREADS>>>(gates, w + 2098176, middle, output, HIDDEN, WIDTH);
    cudaFree(memory);
}
