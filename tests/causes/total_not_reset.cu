// challenge: count-equal
// verdict: WA
// mode: SUBMIT
// told: the same call is right in a new process: what earlier calls left there
#include <cuda_runtime.h>

__device__ int total;

__global__ void count(const int* input, int n, int wanted) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int found = __syncthreads_count(i < n && input[i] == wanted);
    if (threadIdx.x == 0) atomicAdd(&total, found);
}

__global__ void store(int* output) { *output = total; }

extern "C" void solve(const int* input, int* output, int N, int K) {
    count<<<(N + 255) / 256, 256>>>(input, N, K);
    store<<<1, 1>>>(output);
}
