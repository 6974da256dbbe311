// Powers of two up to 4,096: Stockham's transform in shared memory, in one launch. Larger ones as N1 times N2: one launch
// transforms the columns and multiplies by the twiddle factors, a second one the rows; both handle several lines a block
// so that accesses coalesce. Any other length becomes a convolution (Bluestein) of three such transforms.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int CAPACITY = 4096;                    // numbers in shared memory
constexpr int PAIRS = CAPACITY / 2 / THREADS;     // butterflies a thread

__device__ float2 times(float2 a, float2 b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }

// exp(-2 pi i turn / length)
__device__ float2 root(int turn, int length) {
    float2 w;
    sincospif(-2.0f * turn / length, &w.y, &w.x);
    return w;
}

struct Layout {
    int element;  // distance of neighbours in a line
    int line;     // distance of neighbouring lines
};

// Transforms `lines` lines of `length` numbers. Where `twiddle` is not zero, number k of line j is multiplied by
// exp(-2 pi i j k / twiddle).
__global__ void __launch_bounds__(THREADS) transform_lines(const float2* __restrict__ from, float2* __restrict__ to, int length,
                                                            int lines, Layout in, Layout out, int twiddle) {
    __shared__ float2 data[CAPACITY];
    int together = CAPACITY / length;
    int first = blockIdx.x * together;
    int here = min(together, lines - first);
    for (int e = threadIdx.x; e < here * length; e += THREADS) {
        int line = in.line == 1 ? e % here : e / length;
        int i = in.line == 1 ? e / here : e % length;
        data[line * length + i] = from[(first + line) * in.line + i * in.element];
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
        int line = out.line == 1 ? e % here : e / length;
        int i = out.line == 1 ? e / here : e % length;
        float2 value = data[line * length + i];
        if (twiddle) value = times(value, root((first + line) * i, twiddle));
        to[(first + line) * out.line + i * out.element] = value;
    }
}

// `between` has room for a transform; `to` may be `from`.
void transform(const float2* from, float2* to, float2* between, int log2) {
    int n = 1 << log2;
    if (n <= CAPACITY) {
        transform_lines<<<1, THREADS>>>(from, to, n, 1, {1, n}, {1, n}, 0);
        return;
    }
    int n1 = 1 << (log2 - log2 / 2), n2 = 1 << (log2 / 2);
    int columns = CAPACITY / n1, rows = CAPACITY / n2;
    transform_lines<<<(n2 + columns - 1) / columns, THREADS>>>(from, between, n1, n2, {n2, 1}, {n2, 1}, n);
    transform_lines<<<(n1 + rows - 1) / rows, THREADS>>>(between, to, n2, n1, {1, n2}, {n1, 1}, 0);
}

// exp(-pi i j^2 / n)
__device__ float2 chirp(int j, int n) {
    float2 w;
    sincospif(-(float)((long long)j * j % (2 * n)) / n, &w.y, &w.x);
    return w;
}

__global__ void prepare(const float2* signal, float2* data, float2* filter, int n, int padded) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= padded) return;
    data[j] = j < n ? times(signal[j], chirp(j, n)) : float2{0.0f, 0.0f};
    int distance = min(j, padded - j);
    float2 w = distance < n ? chirp(distance, n) : float2{0.0f, 0.0f};
    filter[j] = {w.x, -w.y};
}

// Multiplies, and conjugates, so that another forward transform goes back.
__global__ void multiply(float2* data, const float2* filter, int padded) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= padded) return;
    float2 product = times(data[j], filter[j]);
    data[j] = {product.x, -product.y};
}

__global__ void finish(const float2* data, float2* spectrum, int n, int padded) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    float2 value = {data[k].x / padded, -data[k].y / padded};
    spectrum[k] = times(value, chirp(k, n));
}

extern "C" void solve(const float* signal, float* spectrum, int N) {
    const float2* from = reinterpret_cast<const float2*>(signal);
    float2* to = reinterpret_cast<float2*>(spectrum);
    bool is_power = (N & (N - 1)) == 0;
    int log2 = 0;
    while (1 << log2 < (is_power ? N : 2 * N - 1)) log2++;
    int padded = 1 << log2;
    float2* room;
    cudaMallocAsync(&room, sizeof(float2) * 3 * padded, 0);
    if (is_power) {
        transform(from, to, room, log2);
    } else {
        float2 *data = room, *filter = room + padded, *between = room + 2 * padded;
        int blocks = (padded + 255) / 256;
        prepare<<<blocks, 256>>>(from, data, filter, N, padded);
        transform(data, data, between, log2);
        transform(filter, filter, between, log2);
        multiply<<<blocks, 256>>>(data, filter, padded);
        transform(data, data, between, log2);
        finish<<<blocks, 256>>>(data, to, N, padded);
    }
    cudaFreeAsync(room, 0);
}
