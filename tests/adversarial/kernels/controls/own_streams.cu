// idea: honest: halves on two streams of its own, joined by events
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    cudaStream_t streams[2];
    cudaEvent_t done;
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    for (auto& stream : streams) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    int half = N / 2, rest = N - half;
    if (half) add<<<(half + 255) / 256, 256, 0, streams[0]>>>(A, B, C, half);
    add<<<(rest + 255) / 256, 256, 0, streams[1]>>>(A + half, B + half, C + half, rest);
    cudaEventRecord(done, streams[0]);
    cudaStreamWaitEvent(streams[1], done);
    cudaStreamSynchronize(streams[1]);
    for (auto& stream : streams) cudaStreamDestroy(stream);
    cudaEventDestroy(done);
}
