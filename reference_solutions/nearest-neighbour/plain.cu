// One thread per point, with a loop over all the others.
#include <cuda_runtime.h>

__global__ void find_nearest(const float* points, int* indices, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = points[3 * i], y = points[3 * i + 1], z = points[3 * i + 2];
    float least = INFINITY;
    int nearest = 0;
    for (int j = 0; j < N; j++) {
        float dx = points[3 * j] - x, dy = points[3 * j + 1] - y, dz = points[3 * j + 2] - z;
        float distance = dx * dx + dy * dy + dz * dz;
        if (j != i && distance < least) {
            least = distance;
            nearest = j;
        }
    }
    indices[i] = nearest;
}

extern "C" void solve(const float* points, int* indices, int N) {
    find_nearest<<<(N + 127) / 128, 128>>>(points, indices, N);
}
