// One thread for each number of A and B: its place is its own index plus the number of elements of the other array that
// come before it, which a binary search finds. Of equal numbers those of A come first.
#include <cuda_runtime.h>

__global__ void place_a(const float* A, const float* B, float* C, int M, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M) return;
    float value = A[i];
    int low = 0, high = N;
    while (low < high) {
        int middle = (low + high) / 2;
        if (B[middle] < value) low = middle + 1;
        else high = middle;
    }
    C[i + low] = value;
}

__global__ void place_b(const float* A, const float* B, float* C, int M, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float value = B[i];
    int low = 0, high = M;
    while (low < high) {
        int middle = (low + high) / 2;
        if (A[middle] <= value) low = middle + 1;
        else high = middle;
    }
    C[i + low] = value;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N) {
    place_a<<<(M + 255) / 256, 256>>>(A, B, C, M, N);
    place_b<<<(N + 255) / 256, 256>>>(A, B, C, M, N);
}
