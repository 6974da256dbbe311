// idea: declares the input as persisting in the L2 (cudaAccessPolicyWindow), so that the flush before the next call
//       cannot drive out what the call leaves there
// challenge: reduction
// devices: cuda
// verdict: AC
// caught by: persisting lines are reset before each call, the inputs are made anew, and buffers move
#include <algorithm>
#include "common/reduction.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    static cudaStream_t stream = nullptr;
    if (!stream) {
        int most = 0;
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most);
        cudaStreamCreate(&stream);
    }
    int widest = 0;
    cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, 0);
    cudaStreamAttrValue value = {};
    value.accessPolicyWindow.base_ptr = (void*)input;
    value.accessPolicyWindow.num_bytes = std::min<size_t>(widest, 4ul * N);
    value.accessPolicyWindow.hitRatio = 1.0f;
    value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
    launch_sum(input, output, N, stream);
    cudaStreamSynchronize(stream);
}
