// Work stealing by warps: each has a run of pixels as its own (first and last in one 64-bit word), takes 32 at a time from
// its front, and when it is empty takes the back half of what another one has left.
#include <cuda_runtime.h>

// Steps until |z|^2 is above four; no multiplication is fused with an addition, so that the answer is exact.
__device__ int escape(int px, int py, int height, int width, int limit) {
    float cx = __fadd_rn(__fmul_rn(px, __fdiv_rn(3.0f, width)), -2.0f);
    float cy = __fadd_rn(__fmul_rn(py, __fdiv_rn(2.5f, height)), -1.25f);
    float x = 0, y = 0;
    int n = 0;
    for (; n < limit; n++) {
        float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4) break;
        float xy = __fmul_rn(x, y);
        y = __fadd_rn(__fadd_rn(xy, xy), cy);
        x = __fadd_rn(__fsub_rn(xx, yy), cx);
    }
    return n;
}

constexpr int WARPS = 4096, CHUNK = 32;

__device__ unsigned long long runs[WARPS];

__device__ unsigned long long run_of(unsigned first, unsigned last) { return (unsigned long long)first << 32 | last; }

__global__ void share_out(int count) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= WARPS) return;
    runs[w] = run_of((long long)count * w / WARPS, (long long)count * (w + 1) / WARPS);
}

// One lane's view: the next pixels of warp `mine`, or, when it has none, half of the first run found with enough left.
__device__ bool take(unsigned mine, unsigned &first, unsigned &last) {
    unsigned victim = mine;
    for (int tries = 0; tries < 64;) {
        unsigned long long seen = *(volatile unsigned long long *)&runs[victim];
        unsigned from = seen >> 32, to = (unsigned)seen;
        if (victim == mine) {
            if (from >= to) {
                victim = (mine * 747796405u + ++tries * 2891336453u) >> 20;  // one of 4096
                continue;
            }
            unsigned next = min(from + CHUNK, to);
            if (atomicCAS(&runs[mine], seen, run_of(next, to)) != seen) continue;
            first = from;
            last = next;
            return true;
        }
        if (from >= to || to - from < 2 * CHUNK) {
            victim = (mine * 747796405u + ++tries * 2891336453u) >> 20;
            continue;
        }
        unsigned middle = from + (to - from) / 2;
        if (atomicCAS(&runs[victim], seen, run_of(from, middle)) != seen) continue;
        // Nobody steals from an empty run, so that it can be refilled at leisure.
        first = middle;
        last = min(middle + CHUNK, to);
        atomicExch(&runs[mine], run_of(last, to));
        return true;
    }
    return false;
}

__global__ void __launch_bounds__(256) render(int *out, int height, int width, int limit) {
    unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    while (true) {
        unsigned first = 0, last = 0;
        bool some = lane == 0 && take(warp, first, last);
        if (!__any_sync(0xffffffff, some)) return;
        first = __shfl_sync(0xffffffff, first, 0);
        last = __shfl_sync(0xffffffff, last, 0);
        unsigned i = first + lane;
        if (i < last) out[i] = escape(i % width, i / width, height, width, limit);
        __syncwarp();
    }
}

extern "C" void solve(int *out, int height, int width, int limit) {
    share_out<<<WARPS / 256, 256>>>(height * width);
    render<<<WARPS / 8, 256>>>(out, height, width, limit);
}
