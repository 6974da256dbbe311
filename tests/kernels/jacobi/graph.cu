// The launches of all steps captured once as a graph, which is launched as a whole.
#include <cuda_runtime.h>

__global__ void step(const float *from, float *to, int height, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int i = y * width + x;
    bool inner = x > 0 && x < width - 1 && y > 0 && y < height - 1;
    to[i] = inner ? 0.25f * (from[i - width] + from[i + width] + from[i - 1] + from[i + 1]) : from[i];
}

static float *scratch(size_t count) {
    static float *data = nullptr;
    static size_t room = 0;
    if (room < count) {
        cudaFree(data);
        cudaMalloc(&data, count * sizeof(float));
        room = count;
    }
    return data;
}

static cudaGraphExec_t capture(const float *in, float *out, int height, int width, int steps) {
    float *other = scratch((size_t)height * width);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
    const float *from = in;
    for (int s = 0; s < steps; s++) {
        float *to = s % 2 ? out : other;
        step<<<grid, block, 0, stream>>>(from, to, height, width);
        from = to;
    }
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    return executable;
}

extern "C" void solve(const float *in, float *out, int height, int width, int steps) {
    static cudaGraphExec_t executable = nullptr;
    static const float *captured_in = nullptr, *captured_out = nullptr;
    static int captured[3];
    bool same = executable && captured_in == in && captured_out == out && captured[0] == height && captured[1] == width &&
                captured[2] == steps;
    if (!same) {
        if (executable) cudaGraphExecDestroy(executable);
        executable = capture(in, out, height, width, steps);
        captured_in = in;
        captured_out = out;
        captured[0] = height;
        captured[1] = width;
        captured[2] = steps;
    }
    cudaGraphLaunch(executable, 0);
}
