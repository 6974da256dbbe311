// expect: case=dense
// Stops at 512 neighbors.
#include <cuda_runtime.h>

__global__ void step(const float4 *a, float4 *o, int n) {
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float4 me = a[i];
    float sx = 0, sy = 0;
    int c = 0;
    for (int j = 0; j < n && c < 512; j++) {
        float4 q = a[j];
        float x = q.x - me.x, y = q.y - me.y;
        if (j != i && x * x + y * y < 25) {
            sx += q.z;
            sy += q.w;
            c++;
        }
    }
    float vx = me.z, vy = me.w;
    if (c) {
        vx += 0.05f * (sx / c - vx);
        vy += 0.05f * (sy / c - vy);
    }
    o[i] = make_float4(me.x + vx, me.y + vy, vx, vy);
}
extern "C" void solve(const float *agents, float *agents_next, int N) {
    step<<<(N + 127) / 128, 128>>>((const float4 *)agents, (float4 *)agents_next, N);
}
