// idea: solve returns with the outputs unfinished; a kernel of a constructor's context, kept alive for two seconds, sees
//       the fill of the next call and would finish them in between
// challenge: vector-add
// devices: cuda
// verdict: WA or TLE or RE or TI
// caught by: the context is not idle; outputs are committed at once
#include "common/vector_add.cuh"

__device__ volatile int wanted;
__device__ const float *volatile a, *volatile b;
__device__ float* volatile c;
__device__ volatile int n;

__global__ void finish() {
    long long begin = clock64();
    int done = 0;
    while (clock64() - begin < 4000000000ll) {
        __shared__ int now;
        if (threadIdx.x == 0) now = wanted;
        __syncthreads();
        if (now != done) {
            for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = a[i] + b[i];
            done = now;
        }
        __syncthreads();
    }
}

__global__ void order(const float* A, const float* B, float* C, int N) {
    a = A, b = B, c = C, n = N;
    __threadfence();
    wanted = wanted + 1;
}

static cudaStream_t side;

__attribute__((constructor)) static void begin() {
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    finish<<<1, 1024, 0, side>>>();
}

extern "C" void solve(const float* A, const float* B, float* C, int N) { order<<<1, 1>>>(A, B, C, N); }
