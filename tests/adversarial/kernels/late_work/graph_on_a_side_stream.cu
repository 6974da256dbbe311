// idea: one graph launch instead of a kernel launch, on a stream of its own, made ready in an earlier call
// challenge: reduction
// devices: emulator, cuda
// verdict: AC or TI or WA
// caught by: the closing event covers the whole context
#include "common/reduction.cuh"

extern "C" void solve(const float* input, float* output, int N) {
    static cudaStream_t side = nullptr;
    static cudaGraphExec_t ready = nullptr;
    static const void* made_for[3];
    if (!side) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    const void* now[3] = {input, output, (void*)(size_t)N};
    if (!ready || made_for[0] != now[0] || made_for[1] != now[1] || made_for[2] != now[2]) {
        cudaGraph_t graph;
        cudaStreamBeginCapture(side, cudaStreamCaptureModeThreadLocal);
        launch_sum(input, output, N, side);
        cudaStreamEndCapture(side, &graph);
        if (ready) cudaGraphExecDestroy(ready);
        cudaGraphInstantiate(&ready, graph, 0);
        cudaGraphDestroy(graph);
        for (int i = 0; i < 3; i++) made_for[i] = now[i];
    }
    cudaGraphLaunch(ready, side);
}
