// expect: case=nearest-beyond-a-cell
// A grid with some four points a cell: each point looks into its own cell and those beside it. A neighbor found there may be farther
// away than one beyond.
#include <cuda_runtime.h>
#include <math.h>

constexpr float LOW = -1000.0f, EXTENT = 2000.0f;

__device__ int along(float x, int side) { return min(side - 1, (int)((x - LOW) * side / EXTENT)); }

__global__ void enter(const float* points, int* heads, int* others, int side, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* p = points + 3 * i;
    others[i] = atomicExch(&heads[(along(p[0], side) * side + along(p[1], side)) * side + along(p[2], side)], i);
}

__device__ void compare(const float* points, int i, int j, float* least, int* nearest) {
    float dx = points[3 * j] - points[3 * i], dy = points[3 * j + 1] - points[3 * i + 1];
    float dz = points[3 * j + 2] - points[3 * i + 2];
    float distance = dx * dx + dy * dy + dz * dz;
    if (j != i && distance < *least) {
        *least = distance;
        *nearest = j;
    }
}

__global__ void find_nearest(const float* points, const int* heads, const int* others, int* indices, int side, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    const float* p = points + 3 * i;
    int cx = along(p[0], side), cy = along(p[1], side), cz = along(p[2], side);
    float least = INFINITY;
    int nearest = -1;
    for (int x = max(0, cx - 1); x <= min(side - 1, cx + 1); x++) {
        for (int y = max(0, cy - 1); y <= min(side - 1, cy + 1); y++) {
            for (int z = max(0, cz - 1); z <= min(side - 1, cz + 1); z++) {
                for (int j = heads[(x * side + y) * side + z]; j >= 0; j = others[j]) compare(points, i, j, &least, &nearest);
            }
        }
    }
    if (nearest < 0) {
        for (int j = 0; j < N; j++) compare(points, i, j, &least, &nearest);
    }
    indices[i] = nearest;
}

extern "C" void solve(const float* points, int* indices, int N) {
    int side = max(1, (int)cbrtf(N / 4.0f));
    int *heads, *others;
    cudaMalloc(&heads, sizeof(int) * side * side * side);
    cudaMalloc(&others, sizeof(int) * N);
    cudaMemset(heads, 0xff, sizeof(int) * side * side * side);
    enter<<<(N + 127) / 128, 128>>>(points, heads, others, side, N);
    find_nearest<<<(N + 127) / 128, 128>>>(points, heads, others, indices, side, N);
    cudaFree(others);
    cudaFree(heads);
}
