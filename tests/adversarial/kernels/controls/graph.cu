// idea: honest: captures its two kernels into a graph in every call
// challenge: reduction
// devices: emulator, cuda
// verdict: AC
// caught by: nothing
#include <cuda_runtime.h>

__global__ void clear(float* output) { *output = 0; }

__global__ void sum(const float* input, float* output, int N) {
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += gridDim.x * blockDim.x) own += input[i];
    for (int lanes = 16; lanes; lanes /= 2) own += __shfl_down_sync(~0u, own, lanes);
    if (threadIdx.x % 32 == 0) atomicAdd(output, own);
}

extern "C" void solve(const float* input, float* output, int N) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    clear<<<1, 1, 0, stream>>>(output);
    sum<<<264, 512, 0, stream>>>(input, output, N);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}
