// Two launches, one for rows and one for columns. A block holds 4,096 numbers in shared memory: several lines where they
// are short, so that columns are read several at a time. Lines whose length is a power of two go through Stockham's
// transform, others through the definition with a table of roots in shared memory.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int CAPACITY = 4096;                 // numbers in shared memory
constexpr int PAIRS = CAPACITY / 2 / THREADS;  // butterflies a thread

__device__ float2 times(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// exp(-2 pi i turn / length)
__device__ float2 root(int turn, int length) {
    float2 w;
    sincospif(-2.0f * turn / length, &w.y, &w.x);
    return w;
}

// Lines lie `line` numbers apart, the numbers of a line `element`.
__global__ void __launch_bounds__(THREADS) transform_lines(const float2* from, float2* to, int length, int lines, int element, int line) {
    __shared__ float2 data[CAPACITY];
    int together = CAPACITY / length;
    int first = blockIdx.x * together;
    int here = min(together, lines - first);
    for (int e = threadIdx.x; e < here * length; e += THREADS) {
        int l = line == 1 ? e % here : e / length, i = line == 1 ? e / here : e % length;
        data[l * length + i] = from[(first + l) * line + i * element];
    }
    int half = length / 2;
    for (int stride = 1; stride < length; stride *= 2) {
        float2 a[PAIRS], b[PAIRS];
        __syncthreads();
#pragma unroll
        for (int j = 0; j < PAIRS; j++) {
            int t = threadIdx.x + j * THREADS;
            if (t >= here * half) continue;
            int place = t / half * length + t % half;
            a[j] = data[place];
            b[j] = data[place + half];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < PAIRS; j++) {
            int t = threadIdx.x + j * THREADS;
            if (t >= here * half) continue;
            int i = t % half, q = i & (stride - 1);
            float2* pair = data + t / half * length + 2 * i - q;
            pair[0] = {a[j].x + b[j].x, a[j].y + b[j].y};
            pair[stride] = times({a[j].x - b[j].x, a[j].y - b[j].y}, root(i - q, length));
        }
    }
    __syncthreads();
    for (int e = threadIdx.x; e < here * length; e += THREADS) {
        int l = line == 1 ? e % here : e / length, i = line == 1 ? e / here : e % length;
        to[(first + l) * line + i * element] = data[l * length + i];
    }
}

// One block a line. `from` and `to` must not be the same.
__global__ void __launch_bounds__(THREADS) sum_lines(const float2* from, float2* to, int length, int element, int line) {
    __shared__ float2 roots[CAPACITY];
    for (int i = threadIdx.x; i < length; i += THREADS) roots[i] = root(i, length);
    __syncthreads();
    for (int k = threadIdx.x; k < length; k += THREADS) {
        float2 sum = {0.0f, 0.0f};
        int turn = 0;
        for (int j = 0; j < length; j++) {
            float2 term = times(from[blockIdx.x * line + j * element], roots[turn]);
            sum.x += term.x;
            sum.y += term.y;
            turn += k;
            if (turn >= length) turn -= length;
        }
        to[blockIdx.x * line + k * element] = sum;
    }
}

void transform(const float2* from, float2* to, int length, int lines, int element, int line) {
    if ((length & (length - 1)) == 0) {
        int together = CAPACITY / length;
        transform_lines<<<(lines + together - 1) / together, THREADS>>>(from, to, length, lines, element, line);
    } else {
        sum_lines<<<lines, THREADS>>>(from, to, length, element, line);
    }
}

extern "C" void solve(const float* signal, float* spectrum, int M, int N) {
    float2* between;
    cudaMallocAsync(&between, sizeof(float2) * M * N, 0);
    transform(reinterpret_cast<const float2*>(signal), between, N, M, 1, N);
    transform(between, reinterpret_cast<float2*>(spectrum), M, N, N, 1);
    cudaFreeAsync(between, 0);
}
