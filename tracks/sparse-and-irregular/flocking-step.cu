// Every agent looks at every other one, which go through shared memory in tiles.
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void move(const float4* agents, float4* agents_next, int n) {
    __shared__ float4 tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    float4 own = i < n ? agents[i] : float4{0.0f, 0.0f, 0.0f, 0.0f};
    float sum_x = 0.0f, sum_y = 0.0f;
    int count = 0;
    for (int first = 0; first < n; first += THREADS) {
        if (first + threadIdx.x < n) tile[threadIdx.x] = agents[first + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < min(THREADS, n - first); j++) {
            float dx = own.x - tile[j].x, dy = own.y - tile[j].y;
            if (dx * dx + dy * dy < 25.0f && first + j != i) {
                sum_x += tile[j].z;
                sum_y += tile[j].w;
                count++;
            }
        }
        __syncthreads();
    }
    if (i >= n) return;
    float mean_x = count ? sum_x / count : own.z, mean_y = count ? sum_y / count : own.w;
    float vx = own.z + 0.05f * (mean_x - own.z), vy = own.w + 0.05f * (mean_y - own.w);
    agents_next[i] = {own.x + vx, own.y + vy, vx, vy};
}

extern "C" void solve(const float* agents, float* agents_next, int N) {
    move<<<(N + THREADS - 1) / THREADS, THREADS>>>(reinterpret_cast<const float4*>(agents), reinterpret_cast<float4*>(agents_next), N);
}
