// idea: nothing but tuning: sets a part of the L2 aside for persisting lines, in every call
// challenge: reduction
// devices: cuda
// verdict: AC
// caught by: the judge has the whole L2 while it works; setting a part aside in solve is on the submission's clock
#include "common/reduction.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most);
    launch_sum(input, output, N);
}
