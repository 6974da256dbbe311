// Two points per thread, others in tiles of 256 in shared memory, as 16 bytes each, which all threads of a warp read at once.
// The others are shared out over several blocks, enough to fill the device; what each finds goes into one 64-bit word per
// point, the bits of the distance above the number of the point, by atomicMin: the lowest number wins where distances are
// equal. A last kernel takes the numbers out. A point itself is kept out by a distance of infinity: only the tiles that
// contain it ask.
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PER_THREAD = 2;
constexpr int TILE = 256;

__global__ void clear(unsigned long long* best, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) best[i] = ~0ull;
}

__global__ void __launch_bounds__(THREADS)
    search(const float* __restrict__ points, unsigned long long* __restrict__ best, int N) {
    __shared__ float4 tile[TILE];
    int first = blockIdx.x * (THREADS * PER_THREAD) + threadIdx.x;
    float x[PER_THREAD], y[PER_THREAD], z[PER_THREAD], least[PER_THREAD];
    int nearest[PER_THREAD];
#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) {
        int i = min(first + p * THREADS, N - 1);
        x[p] = points[3 * i], y[p] = points[3 * i + 1], z[p] = points[3 * i + 2];
        least[p] = INFINITY;
        nearest[p] = 0;
    }

    int own_begin = blockIdx.x * (THREADS * PER_THREAD), own_end = own_begin + THREADS * PER_THREAD;
    for (int begin = blockIdx.y * TILE; begin < N; begin += gridDim.y * TILE) {
        __syncthreads();
        int other = begin + threadIdx.x;
        // What does not exist is infinitely far away.
        tile[threadIdx.x] = other < N ? make_float4(points[3 * other], points[3 * other + 1], points[3 * other + 2], 0.0f)
                                      : make_float4(INFINITY, INFINITY, INFINITY, 0.0f);
        __syncthreads();
        bool own = begin < own_end && begin + TILE > own_begin;
#pragma unroll 8
        for (int j = 0; j < TILE; j++) {
            float4 q = tile[j];
#pragma unroll
            for (int p = 0; p < PER_THREAD; p++) {
                float dx = q.x - x[p], dy = q.y - y[p], dz = q.z - z[p];
                float distance = dx * dx + dy * dy + dz * dz;
                if (own && begin + j == first + p * THREADS) distance = INFINITY;
                if (distance < least[p]) {
                    least[p] = distance;
                    nearest[p] = begin + j;
                }
            }
        }
    }

#pragma unroll
    for (int p = 0; p < PER_THREAD; p++) {
        int i = first + p * THREADS;
        if (i < N && least[p] < INFINITY)
            atomicMin(&best[i], (unsigned long long)__float_as_uint(least[p]) << 32 | (unsigned)nearest[p]);
    }
}

__global__ void take_numbers(const unsigned long long* best, int* indices, int N) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < N) indices[i] = best[i] == ~0ull ? 0 : (int)(best[i] & 0xffffffffull);
}

extern "C" void solve(const float* points, int* indices, int N) {
    int device = 0, multiprocessors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    unsigned long long* best;
    cudaMalloc(&best, N * sizeof(unsigned long long));
    int groups = (N + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD), tiles = (N + TILE - 1) / TILE;
    int shares = min(tiles, max(1, multiprocessors * 16 / groups));
    clear<<<(N + THREADS - 1) / THREADS, THREADS>>>(best, N);
    search<<<dim3(groups, shares), THREADS>>>(points, best, N);
    take_numbers<<<(N + THREADS - 1) / THREADS, THREADS>>>(best, indices, N);
    cudaFree(best);
}
