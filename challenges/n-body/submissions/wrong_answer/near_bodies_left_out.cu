// expect: case=all-close
// Bodies nearer than 0.001 are left out, as if each were the body itself.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void attract(const float4* bodies, float* accelerations, float softening, int n) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 own = i < n ? bodies[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += THREADS) {
        if (first + threadIdx.x < n) tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(THREADS, n - first); j++) {
            float x = tile[j].x - own.x, y = tile[j].y - own.y, z = tile[j].z - own.z;
            float square = x * x + y * y + z * z;
            if (square < 1e-6f) continue;
            square += softening * softening;
            float weight = tile[j].w / (square * sqrtf(square));
            ax += weight * x;
            ay += weight * y;
            az += weight * z;
        }
        __syncthreads();
    }
    if (i >= n) return;
    accelerations[3 * i] = ax;
    accelerations[3 * i + 1] = ay;
    accelerations[3 * i + 2] = az;
}

extern "C" void solve(const float* bodies, float* accelerations, float softening, int N) {
    attract<<<(N + THREADS - 1) / THREADS, THREADS>>>(reinterpret_cast<const float4*>(bodies), accelerations, softening, N);
}
