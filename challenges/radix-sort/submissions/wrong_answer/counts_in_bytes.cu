// expect: case=two-values
// By eight bits at a time; each of 512 threads counts in bytes how often it meets which digit.
#include <cuda_runtime.h>

constexpr int THREADS = 512, DIGITS = 256;

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

extern "C" void solve(const unsigned int* input, unsigned int* output, int N) {
    unsigned *room, *from = output, *to;
    cudaMalloc(&room, sizeof(unsigned) * N);
    to = room;
    cudaMemcpy(output, input, sizeof(unsigned) * N, cudaMemcpyDeviceToDevice);
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
    // After four passes the keys are in the output again.
    cudaFree(places);
    cudaFree(counts);
    cudaFree(room);
}
