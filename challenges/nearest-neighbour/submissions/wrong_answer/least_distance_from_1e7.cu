// expect: case=opposite-corners
// The least squared distance starts at 1e7, though corners are 1.2e7 apart.
#include <cuda_runtime.h>
__global__ void nn(const float *p, int *out, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float best = 1e7f;
    int at = -1;
    for (int j = 0; j < N; j++) {
        if (j == i) continue;
        float x = p[3 * i] - p[3 * j], y = p[3 * i + 1] - p[3 * j + 1], z = p[3 * i + 2] - p[3 * j + 2],
              d = x * x + y * y + z * z;
        if (d < best) {
            best = d;
            at = j;
        }
    }
    out[i] = at;
}
extern "C" void solve(const float *points, int *indices, int N) { nn<<<(N + 255) / 256, 256>>>(points, indices, N); }
