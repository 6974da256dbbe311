// idea: nothing but tuning: parameters by an asynchronous copy from pinned memory to a symbol, and a launch with an access
//       policy window of its own for the first part of its input
// challenge: reduction
// devices: cuda
// verdict: AC
// caught by: the judge has the whole L2 while it works, and a call has what its program set aside
#include <algorithm>
#include <cuda_runtime.h>

struct Parameters {
    int count;
    float factor;
};
__constant__ Parameters parameters;

__global__ void weighted_sum(const float* input, float* output) {
    __shared__ float partial[8];
    float sum = 0;
    const int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < parameters.count; i += stride) sum += input[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x >= 8) return;
    sum = partial[threadIdx.x];
    for (int step = 4; step > 0; step /= 2) sum += __shfl_down_sync(0xFF, sum, step);
    if (threadIdx.x == 0) atomicAdd(output, parameters.factor * sum);
}

extern "C" void solve(const float* input, float* output, int N) {
    static Parameters* pinned = nullptr;
    static int widest = 0, most = 0, multiprocessors = 0;
    if (!pinned) {
        cudaMallocHost(&pinned, sizeof(Parameters));
        cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, 0);
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most);
    }
    *pinned = {N, 1.0f};
    cudaMemcpyToSymbolAsync(parameters, pinned, sizeof(Parameters), 0, cudaMemcpyHostToDevice, 0);
    cudaLaunchAttribute window = {};
    window.id = cudaLaunchAttributeAccessPolicyWindow;
    window.val.accessPolicyWindow.base_ptr = (void*)input;
    window.val.accessPolicyWindow.num_bytes = std::min<size_t>(std::min(widest, most), 4ul * N);
    window.val.accessPolicyWindow.hitRatio = 1.0f;
    window.val.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    window.val.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8 * multiprocessors;
    config.blockDim = 256;
    config.attrs = &window;
    config.numAttrs = 1;
    cudaLaunchKernelEx(&config, weighted_sum, input, output);
}
