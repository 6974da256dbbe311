// expect: case=ties-across-groups
// The nearest centroid of each group of 256, then of all groups: of equally near ones the last group wins.
#include <cuda_runtime.h>

__global__ void assign(const float* x, const float* y, int* labels, const float* cx, const float* cy, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int label = 0;
    float least = INFINITY;
    for (int first = 0; first < k; first += 256) {
        int best = first;
        float distance = INFINITY;
        for (int j = first; j < min(first + 256, k); j++) {
            float dx = x[i] - cx[j], dy = y[i] - cy[j], here = dx * dx + dy * dy;
            if (here < distance) distance = here, best = j;
        }
        if (distance <= least) least = distance, label = best;
    }
    labels[i] = label;
}

__global__ void move(const float* x, const float* y, const int* labels, float* cx, float* cy, int n) {
    int j = blockIdx.x, count = 0;
    double sum_x = 0, sum_y = 0;
    for (int i = 0; i < n; i++) {
        if (labels[i] == j) sum_x += x[i], sum_y += y[i], count++;
    }
    if (count) cx[j] = sum_x / count, cy[j] = sum_y / count;
}

extern "C" void solve(const float* data_x, const float* data_y, int* labels, float* initial_centroid_x, float* initial_centroid_y,
                      float* final_centroid_x, float* final_centroid_y, int sample_size, int k, int max_iterations) {
    cudaMemcpy(final_centroid_x, initial_centroid_x, sizeof(float) * k, cudaMemcpyDeviceToDevice);
    cudaMemcpy(final_centroid_y, initial_centroid_y, sizeof(float) * k, cudaMemcpyDeviceToDevice);
    for (int round = 0; round < max_iterations; round++) {
        assign<<<(sample_size + 255) / 256, 256>>>(data_x, data_y, labels, final_centroid_x, final_centroid_y, sample_size, k);
        move<<<k, 1>>>(data_x, data_y, labels, final_centroid_x, final_centroid_y, sample_size);
    }
}
