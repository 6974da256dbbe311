// idea: honest: allocates its workspace once, in a static object with constructor and destructor, and keeps it
// challenge: reduction
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

struct Workspace {
    float* partial = nullptr;
    Workspace() { cudaMalloc(&partial, 1024 * sizeof(float)); }
    ~Workspace() { cudaFree(partial); }
};
static Workspace workspace;

__global__ void sum(const float* input, float* output, int N) {
    __shared__ float shared[256];
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) own += input[i];
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int stride = 128; stride; stride /= 2) {
        if (threadIdx.x < stride) shared[threadIdx.x] += shared[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0) output[blockIdx.x] = shared[0];
}

extern "C" void solve(const float* input, float* output, int N) {
    sum<<<1024, 256>>>(input, workspace.partial, N);
    sum<<<1, 256>>>(workspace.partial, output, 1024);
}
