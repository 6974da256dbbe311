// expect: case=n-100-p-3
// Where N divides by 4, a thread makes four neighbors; that kernel adds up whole tiles of 16 and leaves out the rest.
#include <cuda_runtime.h>

constexpr int TILE = 16;

__global__ void fours(const float *A, const float *B, float *C, int N) {
    __shared__ float tile[TILE][TILE + 1];
    int col = 4 * (blockIdx.x * TILE + threadIdx.x), row = blockIdx.y * TILE + threadIdx.y;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int first = 0; first + TILE <= N; first += TILE) {
        tile[threadIdx.y][threadIdx.x] = row < N ? A[row * N + first + threadIdx.x] : 0;
        __syncthreads();
        for (int k = 0; k < TILE && col < N; ++k) {
            float a = tile[threadIdx.y][k];
            float4 b = *(const float4 *)(B + (first + k) * N + col);
            sum = make_float4(sum.x + a * b.x, sum.y + a * b.y, sum.z + a * b.z, sum.w + a * b.w);
        }
        __syncthreads();
    }
    if (row < N && col < N) *(float4 *)(C + row * N + col) = sum;
}

__global__ void ones(const float *A, const float *B, float *C, int N) {
    int col = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    if (row >= N || col >= N) return;
    float sum = 0;
    for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + col];
    C[row * N + col] = sum;
}

extern "C" void solve(const float *input, float *output, int N, int P) {
    size_t bytes = sizeof(float) * N * N;
    float *power, *next;
    cudaMalloc(&power, bytes);
    cudaMalloc(&next, bytes);
    cudaMemcpy(power, input, bytes, cudaMemcpyDeviceToDevice);
    int width = N % 4 == 0 ? 4 * TILE : TILE;
    dim3 blocks((N + width - 1) / width, (N + TILE - 1) / TILE), threads(TILE, TILE);
    for (int i = 1; i < P; ++i) {
        (N % 4 == 0 ? fours : ones)<<<blocks, threads>>>(power, input, next, N);
        float *product = next;
        next = power;
        power = product;
    }
    cudaMemcpy(output, power, bytes, cudaMemcpyDeviceToDevice);
    cudaFree(power);
    cudaFree(next);
}
