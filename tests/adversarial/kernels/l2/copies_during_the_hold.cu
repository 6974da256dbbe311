// idea: while the blocking kernel holds the multiprocessors the copy engines are free: copies on a stream that waits for
//       nothing bring the end of the inputs to the L2, from where the kernel, that begins there, reads them
// challenge: vector-add
// devices: cuda
// verdict: AC or TI
// caught by: the blocking kernel keeps reading other memory until shortly before it ends, which drives out what was copied
#include "common/vector_add.cuh"

constexpr size_t COPIED = 16ul << 20;

__global__ void add_from_the_end(const float* A, const float* B, float* C, int N) {
    const int i = N - 1 - static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= 0) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    static cudaStream_t side = nullptr;
    static char* scratch = nullptr;
    const size_t size = 4ul * N;
    if (size < 4 * COPIED) return launch_add(A, B, C, N);
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaMalloc(&scratch, 2 * COPIED);
    }
    cudaMemcpyAsync(scratch, (const char*)A + size - COPIED, COPIED, cudaMemcpyDeviceToDevice, side);
    cudaMemcpyAsync(scratch + COPIED, (const char*)B + size - COPIED, COPIED, cudaMemcpyDeviceToDevice, side);
    add_from_the_end<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
