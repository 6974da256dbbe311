// One atomic to a warp: the lanes that keep something count themselves by a ballot.
#include <cuda_runtime.h>

__global__ void keep(const int *in, int *out, int *count, int n) {
    int lane = threadIdx.x % 32;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - lane < n; i += gridDim.x * blockDim.x) {
        int value = i < n ? in[i] : 0;
        unsigned keepers = __ballot_sync(0xffffffff, value > 0);
        int first = 0;
        if (lane == 0 && keepers) first = atomicAdd(count, __popc(keepers));
        first = __shfl_sync(0xffffffff, first, 0);
        if (value > 0) out[first + __popc(keepers & ((1u << lane) - 1))] = value;
    }
}

extern "C" void solve(const int *in, int *out, int *count, int n) {
    keep<<<min((n + 255) / 256, 2048), 256>>>(in, out, count, n);
}
