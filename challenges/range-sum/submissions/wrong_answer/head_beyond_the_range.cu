// expect: case=within-four
// The head goes up to the next multiple of four, or to the end of the array, though the range may end before.
#include <cuda_runtime.h>

__global__ void k(const int* in, int* out, int N, int S, int E) {
    int end = E + 1;
    int head = min((S + 3) / 4 * 4, N);
    int tail = end / 4 * 4;
    int sum = 0;
    int t = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    const int4* v = reinterpret_cast<const int4*>(in);
    for (int i = head / 4 + t; i < tail / 4; i += n) {
        int4 q = v[i];
        sum += q.x + q.y + q.z + q.w;
    }
    if (t == 0) {
        for (int i = S; i < head; i++) sum += in[i];
        for (int i = max(tail, head); i < end; i++) sum += in[i];
    }
    for (int o = 16; o; o /= 2) sum += __shfl_down_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
extern "C" void solve(const int* input, int* output, int N, int S, int E) { k<<<64, 256>>>(input, output, N, S, E); }
