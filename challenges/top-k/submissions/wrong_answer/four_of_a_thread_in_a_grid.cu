// expect: case=a-grid-apart
// Each of 1024 threads of a grid keeps the four largest of its numbers, which lie 1024 apart.
#include <cub/device/device_radix_sort.cuh>
__global__ void few(const float *x, float *cand, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float b[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (int i = t; i < n; i += 1024) {
        float v = x[i];
        if (v > b[3]) {
            b[3] = v;
            for (int j = 3; j > 0 && b[j] > b[j - 1]; j--) {
                float s = b[j];
                b[j] = b[j - 1];
                b[j - 1] = s;
            }
        }
    }
    for (int j = 0; j < 4; j++) cand[t * 4 + j] = b[j];
}
extern "C" void solve(const float *input, float *output, int N, int k) {
    const float *from = input;
    int n = N;
    float *cand, *sorted;
    void *tmp = 0;
    size_t bytes = 0;
    cudaMalloc(&cand, 4096 * 4);
    if (N > 9000 && k <= 128) {
        few<<<8, 128>>>(input, cand, N);
        from = cand;
        n = 4096;
    }
    cudaMalloc(&sorted, 4 * (size_t)n);
    cub::DeviceRadixSort::SortKeysDescending(tmp, bytes, from, sorted, n);
    cudaMalloc(&tmp, bytes);
    cub::DeviceRadixSort::SortKeysDescending(tmp, bytes, from, sorted, n);
    cudaMemcpy(output, sorted, 4 * (size_t)k, cudaMemcpyDeviceToDevice);
    cudaFree(tmp);
    cudaFree(sorted);
    cudaFree(cand);
}
