// As the plain kernel, but each block keeps the centroids and its own sums in shared memory, goes through many points, and
// adds to global memory once. Labels are written in the last round alone.
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void __launch_bounds__(THREADS) assign(const float* __restrict__ data_x, const float* __restrict__ data_y, int* labels,
                                                   const float* place_x, const float* place_y, float* sum_x, float* sum_y, int* counts,
                                                   int n, int k) {
    extern __shared__ float shared[];
    float *xs = shared, *ys = xs + k, *own_x = ys + k, *own_y = own_x + k;
    int* own_counts = reinterpret_cast<int*>(own_y + k);
    for (int j = threadIdx.x; j < k; j += THREADS) {
        xs[j] = place_x[j];
        ys[j] = place_y[j];
        own_x[j] = own_y[j] = 0.0f;
        own_counts[j] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
        float x = data_x[i], y = data_y[i];
        int nearest = 0;
        float least = __int_as_float(0x7f800000);
#pragma unroll 4
        for (int j = 0; j < k; j++) {
            float dx = x - xs[j], dy = y - ys[j];
            float square = dx * dx + dy * dy;
            if (square < least) {
                least = square;
                nearest = j;
            }
        }
        if (labels) labels[i] = nearest;
        atomicAdd(&own_x[nearest], x);
        atomicAdd(&own_y[nearest], y);
        atomicAdd(&own_counts[nearest], 1);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < k; j += THREADS) {
        if (own_counts[j] == 0) continue;
        atomicAdd(&sum_x[j], own_x[j]);
        atomicAdd(&sum_y[j], own_y[j]);
        atomicAdd(&counts[j], own_counts[j]);
    }
}

__global__ void move(float* place_x, float* place_y, float* sum_x, float* sum_y, int* counts, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= k) return;
    if (counts[j] > 0) {
        place_x[j] = sum_x[j] / counts[j];
        place_y[j] = sum_y[j] / counts[j];
    }
    sum_x[j] = sum_y[j] = 0.0f;
    counts[j] = 0;
}

extern "C" void solve(const float* data_x, const float* data_y, int* labels, float* initial_centroid_x, float* initial_centroid_y,
                      float* final_centroid_x, float* final_centroid_y, int sample_size, int k, int max_iterations) {
    float* sums;
    cudaMallocAsync(&sums, 3 * sizeof(float) * k, 0);
    cudaMemsetAsync(sums, 0, 3 * sizeof(float) * k, 0);
    int* counts = reinterpret_cast<int*>(sums + 2 * k);
    cudaMemcpyAsync(final_centroid_x, initial_centroid_x, sizeof(float) * k, cudaMemcpyDeviceToDevice, 0);
    cudaMemcpyAsync(final_centroid_y, initial_centroid_y, sizeof(float) * k, cudaMemcpyDeviceToDevice, 0);
    int blocks = min((sample_size + THREADS - 1) / THREADS, 528);
    for (int round = 0; round < max_iterations; round++) {
        assign<<<blocks, THREADS, 5 * sizeof(float) * k>>>(data_x, data_y, round + 1 == max_iterations ? labels : nullptr, final_centroid_x,
                                                           final_centroid_y, sums, sums + k, counts, sample_size, k);
        move<<<(k + 127) / 128, 128>>>(final_centroid_x, final_centroid_y, sums, sums + k, counts, k);
    }
    cudaFreeAsync(sums, 0);
}
