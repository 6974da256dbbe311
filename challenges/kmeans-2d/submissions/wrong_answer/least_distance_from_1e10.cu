// expect: case=all-far
// The least squared distance starts at 1e10, though centroids may be farther away.
#include <cuda_runtime.h>

__global__ void assign(const float* data_x, const float* data_y, int* labels, const float* place_x, const float* place_y, float* sum_x,
                       float* sum_y, int* counts, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = data_x[i], y = data_y[i];
    int nearest = 0;
    float least = 1e10f;
    for (int j = 0; j < k; j++) {
        float dx = x - place_x[j], dy = y - place_y[j];
        float square = dx * dx + dy * dy;
        if (square < least) {
            least = square;
            nearest = j;
        }
    }
    labels[i] = nearest;
    atomicAdd(&sum_x[nearest], x);
    atomicAdd(&sum_y[nearest], y);
    atomicAdd(&counts[nearest], 1);
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
    cudaMalloc(&sums, 3 * sizeof(float) * k);
    cudaMemset(sums, 0, 3 * sizeof(float) * k);
    int* counts = reinterpret_cast<int*>(sums + 2 * k);
    cudaMemcpy(final_centroid_x, initial_centroid_x, sizeof(float) * k, cudaMemcpyDeviceToDevice);
    cudaMemcpy(final_centroid_y, initial_centroid_y, sizeof(float) * k, cudaMemcpyDeviceToDevice);
    for (int round = 0; round < max_iterations; round++) {
        assign<<<(sample_size + 255) / 256, 256>>>(data_x, data_y, labels, final_centroid_x, final_centroid_y, sums, sums + k, counts,
                                                   sample_size, k);
        move<<<(k + 127) / 128, 128>>>(final_centroid_x, final_centroid_y, sums, sums + k, counts, k);
    }
    cudaFree(sums);
}
