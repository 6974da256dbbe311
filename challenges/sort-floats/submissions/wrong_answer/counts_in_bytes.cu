// expect: case=two-values
// By eight bits at a time; each of 512 threads counts in bytes how often it meets which digit.
#include <cuda_runtime.h>

constexpr int THREADS = 512, DIGITS = 256;

// Unsigned numbers in the order of the floats, and back.
__global__ void to_keys(unsigned* numbers, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) numbers[i] ^= numbers[i] >> 31 ? 0xffffffffu : 0x80000000u;
}

__global__ void to_floats(unsigned* keys, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) keys[i] ^= keys[i] >> 31 ? 0x80000000u : 0xffffffffu;
}

__global__ void count(const unsigned* keys, unsigned char* counts, int n, int shift) {
    int share = (n + THREADS - 1) / THREADS, begin = min(n, (int)threadIdx.x * share), end = min(n, begin + share);
    for (int i = begin; i < end; i++) counts[(keys[i] >> shift & 255) * THREADS + threadIdx.x]++;
}

// Where each thread's keys of each digit begin: the digits in order, and within a digit the threads.
__global__ void add_up(const unsigned char* counts, int* places) {
    __shared__ int totals[DIGITS];
    int sum = 0;
    for (int t = 0; t < THREADS; t++) sum += counts[threadIdx.x * THREADS + t];
    totals[threadIdx.x] = sum;
    __syncthreads();
    int place = 0;
    for (int digit = 0; digit < threadIdx.x; digit++) place += totals[digit];
    for (int t = 0; t < THREADS; t++) {
        places[threadIdx.x * THREADS + t] = place;
        place += counts[threadIdx.x * THREADS + t];
    }
}

__global__ void move(const unsigned* keys, unsigned* sorted, int* places, int n, int shift) {
    int share = (n + THREADS - 1) / THREADS, begin = min(n, (int)threadIdx.x * share), end = min(n, begin + share);
    for (int i = begin; i < end; i++) sorted[places[(keys[i] >> shift & 255) * THREADS + threadIdx.x]++] = keys[i];
}

extern "C" void solve(float* data, int N) {
    int blocks = (N + THREADS - 1) / THREADS;
    unsigned *room, *from = reinterpret_cast<unsigned*>(data), *to;
    cudaMalloc(&room, sizeof(unsigned) * N);
    to = room;
    to_keys<<<blocks, THREADS>>>(from, N);
    unsigned char* counts;
    int* places;
    cudaMalloc(&counts, DIGITS * THREADS);
    cudaMalloc(&places, sizeof(int) * DIGITS * THREADS);
    for (int shift = 0; shift < 32; shift += 8) {
        cudaMemset(counts, 0, DIGITS * THREADS);
        count<<<1, THREADS>>>(from, counts, N, shift);
        add_up<<<1, DIGITS>>>(counts, places);
        move<<<1, THREADS>>>(from, to, places, N, shift);
        unsigned* other = from;
        from = to;
        to = other;
    }
    // After four passes the keys are in the data again.
    to_floats<<<blocks, THREADS>>>(from, N);
    cudaFree(places);
    cudaFree(counts);
    cudaFree(room);
}
