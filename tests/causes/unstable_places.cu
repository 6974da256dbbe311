// challenge: radix-sort
// verdict: WA
// mode: SUBMIT
// headline: the keys are sorted by their highest 8 bits alone, as by passes that are not stable: 
// told: output[
#include <cuda_runtime.h>

__device__ unsigned counts[256];

__global__ void count(const unsigned* keys, int N, int shift) {
    for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x) atomicAdd(&counts[keys[i] >> shift & 255], 1);
    __syncthreads();
    if (threadIdx.x) return;
    for (unsigned digit = 0, sum = 0; digit < 256; digit++) {
        unsigned more = counts[digit];
        counts[digit] = sum;
        sum += more;
    }
}

__global__ void scatter(const unsigned* keys, unsigned* sorted, int N, int shift) {
    // From the end: equal digits change their order in each pass.
    for (int i = N - 1 - (int)threadIdx.x; i >= 0; i -= blockDim.x) {
        unsigned key = keys[i];
        sorted[atomicAdd(&counts[key >> shift & 255], 1)] = key;
    }
}

extern "C" void solve(const unsigned* input, unsigned* output, int N) {
    unsigned* other;
    cudaMalloc(&other, N * sizeof(unsigned));
    cudaMemcpy(output, input, N * sizeof(unsigned), cudaMemcpyDeviceToDevice);
    unsigned *from = output, *to = other;
    for (int shift = 0; shift < 32; shift += 8) {
        count<<<1, 256>>>(from, N, shift);
        scatter<<<1, 256>>>(from, to, N, shift);
        unsigned* swapped = from;
        from = to;
        to = swapped;
    }
    cudaFree(other);
}
