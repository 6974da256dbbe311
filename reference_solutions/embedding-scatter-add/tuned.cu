// The places of tokens are sorted by token: counts, a scan of them, and each place's rank by an atomic on its token's counter. Then a warp
// takes 32 places in that order and adds in registers as long as the token stays the same, so that a token that comes n times
// costs about n/32 atomic additions instead of n.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int RUN = 32;

__global__ void count(const int* __restrict__ tokens, int* __restrict__ counts, int T) {
    int t = blockIdx.x * THREADS + threadIdx.x;
    if (t < T) atomicAdd(&counts[tokens[t]], 1);
}

// Turns counts into the places where the tokens begin; one block.
__global__ void __launch_bounds__(1024) scan(int* counts, int V) {
    __shared__ int sums[1024];
    int t = threadIdx.x, each = (V + 1023) / 1024, first = min(V, t * each), end = min(V, first + each), sum = 0;
    for (int v = first; v < end; v++) sum += counts[v];
    sums[t] = sum;
    __syncthreads();
    for (int offset = 1; offset < 1024; offset *= 2) {
        int other = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    int before = sums[t] - sum;
    for (int v = first; v < end; v++) {
        int own = counts[v];
        counts[v] = before;
        before += own;
    }
}

__global__ void place(const int* __restrict__ tokens, int* __restrict__ next, int2* __restrict__ sorted, int T) {
    int t = blockIdx.x * THREADS + threadIdx.x;
    if (t < T) sorted[atomicAdd(&next[tokens[t]], 1)] = make_int2(tokens[t], t);
}

__global__ void __launch_bounds__(THREADS) add(const float* __restrict__ gradients, const int2* __restrict__ sorted, float* __restrict__ table,
                                               int T, int D) {
    __shared__ int2 run[RUN];
    int first = blockIdx.x * RUN, size = min(RUN, T - first);
    if (threadIdx.x < size) run[threadIdx.x] = sorted[first + threadIdx.x];
    __syncthreads();
    for (int d = blockIdx.y * THREADS + threadIdx.x; d < D; d += gridDim.y * THREADS) {
        float sum = 0.0f;
        for (int i = 0; i < size; i++) {
            sum += __ldcs(&gradients[(size_t)run[i].y * D + d]);
            if (i + 1 == size || run[i + 1].x != run[i].x) {
                atomicAdd(&table[(size_t)run[i].x * D + d], sum);
                sum = 0.0f;
            }
        }
    }
}

extern "C" void solve(const float* gradients, const int* tokens, float* table, int T, int V, int D) {
    static char* scratch = nullptr;
    static size_t size = 0;
    size_t needed = sizeof(int2) * T + sizeof(int) * V;
    if (needed > size) {
        cudaFree(scratch);
        cudaMalloc(&scratch, needed);
        size = needed;
    }
    int2* sorted = reinterpret_cast<int2*>(scratch);
    int* counts = reinterpret_cast<int*>(sorted + T);
    int blocks = (T + THREADS - 1) / THREADS;
    cudaMemsetAsync(counts, 0, sizeof(int) * V);
    count<<<blocks, THREADS>>>(tokens, counts, T);
    scan<<<1, 1024>>>(counts, V);
    place<<<blocks, THREADS>>>(tokens, counts, sorted, T);
    add<<<dim3((T + RUN - 1) / RUN, (D + THREADS - 1) / THREADS), THREADS>>>(gradients, sorted, table, T, D);
}
