// Graphs with conditional nodes, and graphs that kernels launch: argv[1] names one. Prints what was computed.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(call)                                                              \
    do {                                                                         \
        if (cudaError_t error_ = (call)) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(error_));         \
            exit(1);                                                             \
        }                                                                        \
    } while (0)

__device__ int number, steps, evens, rest;

// One step of Collatz: the loop goes on until 1.
__global__ void look(cudaGraphConditionalHandle odd) {
    cudaGraphSetConditional(odd, number % 2);
}
__global__ void triple() { number = 3 * number + 1; }
__global__ void halve() {
    number /= 2;
    ++evens;
}
__global__ void decide(cudaGraphConditionalHandle again) {
    ++steps;
    cudaGraphSetConditional(again, number != 1);
}
__global__ void forever(cudaGraphConditionalHandle again) { cudaGraphSetConditional(again, 1); }
__global__ void choose(cudaGraphConditionalHandle which, unsigned value) { cudaGraphSetConditional(which, value); }
__global__ void set(int value) { number = value; }
__global__ void bogus() { cudaGraphSetConditional(12345678, 1); }

static cudaGraphNode_t kernel(cudaGraph_t graph, cudaGraphNode_t before, const void *function, void **arguments) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = const_cast<void *>(function);
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = arguments;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, before ? &before : nullptr, nullptr, before ? 1 : 0, &params));
    return node;
}

static cudaGraphNode_t conditional(cudaGraph_t graph, cudaGraphNode_t before, cudaGraphConditionalHandle handle,
                                   cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t *bodies) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, before ? &before : nullptr, nullptr, before ? 1 : 0, &params));
    for (unsigned i = 0; i < size; ++i) bodies[i] = params.conditional.phGraph_out[i];
    return node;
}

template <class Value>
static Value read(const Value &symbol) {
    Value value;
    CHECK(cudaMemcpyFromSymbol(&value, symbol, sizeof value));
    return value;
}

static void launch(cudaGraph_t graph, int times = 1) {
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < times; ++i) CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
}

// A WHILE node with an IF node of two bodies in it.
static void collatz() {
    cudaGraph_t graph, body, branches[2];
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle again, odd;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    CHECK(cudaGraphConditionalHandleCreate(&odd, graph, 0, 0));
    int first = 27;
    void *initial[] = {&first}, *of_branch[] = {&odd}, *of_loop[] = {&again};
    cudaGraphNode_t begin = kernel(graph, nullptr, reinterpret_cast<const void *>(set), initial);
    conditional(graph, begin, again, cudaGraphCondTypeWhile, 1, &body);
    cudaGraphNode_t asked = kernel(body, nullptr, reinterpret_cast<const void *>(look), of_branch);
    cudaGraphNode_t branch = conditional(body, asked, odd, cudaGraphCondTypeIf, 2, branches);
    kernel(branches[0], nullptr, reinterpret_cast<const void *>(triple), nullptr);
    kernel(branches[1], nullptr, reinterpret_cast<const void *>(halve), nullptr);
    kernel(body, branch, reinterpret_cast<const void *>(decide), of_loop);
    launch(graph, 2);
    printf("%d %d %d\n", read(number), read(steps), read(evens));
}

static void switches() {
    for (unsigned value = 0; value < 4; ++value) {
        cudaGraph_t graph, bodies[3];
        CHECK(cudaGraphCreate(&graph, 0));
        cudaGraphConditionalHandle which;
        CHECK(cudaGraphConditionalHandleCreate(&which, graph));
        int none = -1;
        void *initial[] = {&none}, *chosen[] = {&which, &value};
        cudaGraphNode_t begin = kernel(graph, nullptr, reinterpret_cast<const void *>(set), initial);
        cudaGraphNode_t choice = kernel(graph, begin, reinterpret_cast<const void *>(choose), chosen);
        conditional(graph, choice, which, cudaGraphCondTypeSwitch, 3, bodies);
        for (int i = 0; i < 3; ++i) {
            int result = 10 * i;
            void *arguments[] = {&result};
            kernel(bodies[i], nullptr, reinterpret_cast<const void *>(set), arguments);
        }
        launch(graph);
        printf("%d ", read(number));
    }
    puts("");
}

// The body of a loop, and the loop itself, captured.
static void captured() {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraph_t graph, same, body;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    set<<<1, 1, 0, stream>>>(64);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *before;
    size_t count;
    CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, &graph, &before, nullptr, &count));
    cudaGraphConditionalHandle again;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNode_t loop = conditional(graph, before[0], again, cudaGraphCondTypeWhile, 1, &body);
    CHECK(cudaStreamUpdateCaptureDependencies(stream, &loop, nullptr, 1, cudaStreamSetCaptureDependencies));
    halve<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &same));
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    halve<<<1, 1, 0, stream>>>();
    decide<<<1, 1, 0, stream>>>(again);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    printf("%d %d ", same == graph, static_cast<int>(count));
    launch(graph);
    printf("%d %d %d\n", read(number), read(steps), read(evens));
    CHECK(cudaStreamDestroy(stream));
}

static void endless() {
    cudaGraph_t graph, body;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle again;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    conditional(graph, nullptr, again, cudaGraphCondTypeWhile, 1, &body);
    void *arguments[] = {&again};
    kernel(body, nullptr, reinterpret_cast<const void *>(forever), arguments);
    launch(graph);
}

static void host_in_body() {
    cudaGraph_t graph, body;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle again;
    CHECK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    conditional(graph, nullptr, again, cudaGraphCondTypeIf, 1, &body);
    cudaGraphNode_t node;
    cudaHostNodeParams params{[](void *) {}, nullptr};
    CHECK(cudaGraphAddHostNode(&node, body, nullptr, 0, &params));
    launch(graph);
}

#ifdef DEVICE_LAUNCHES
__device__ int trace[32], end;
__global__ void note(int what) { trace[end++] = what; }

// A node of a graph that launches itself behind itself until nothing is left, and another at once.
__global__ void again(cudaGraphExec_t other) {
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(rest);
    cudaGraphLaunch(other, cudaStreamGraphFireAndForget);
    if (--rest > 0) cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

static cudaGraphExec_t for_device(cudaGraph_t graph) {
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(executable, 0));
    return executable;
}

static void device_graphs() {
    cudaGraph_t graph, other;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&other, 0));
    int what = 100, last = 200, three = 3;
    void *of_other[] = {&what}, *of_last[] = {&last};
    kernel(other, nullptr, reinterpret_cast<const void *>(note), of_other);
    cudaGraphExec_t launched = for_device(other);
    void *arguments[] = {&launched};
    cudaGraphNode_t first = kernel(graph, nullptr, reinterpret_cast<const void *>(again), arguments);
    kernel(graph, first, reinterpret_cast<const void *>(note), of_last);
    CHECK(cudaMemcpyToSymbol(rest, &three, sizeof three));
    CHECK(cudaGraphLaunch(for_device(graph), 0));
    CHECK(cudaDeviceSynchronize());
    int order[32], count = read(end);
    CHECK(cudaMemcpyFromSymbol(order, trace, sizeof order));
    for (int i = 0; i < count; ++i) printf("%d ", order[i]);
    puts("");
}

__global__ void not_for_device(cudaGraphExec_t graph) { cudaGraphLaunch(graph, cudaStreamGraphFireAndForget); }

static void plain_graph() {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaGraphCreate(&graph, 0));
    int what = 1;
    void *arguments[] = {&what};
    kernel(graph, nullptr, reinterpret_cast<const void *>(note), arguments);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    not_for_device<<<1, 1>>>(executable);
    CHECK(cudaDeviceSynchronize());
    printf("%d\n", read(end));
}
#endif

int main(int, char **arguments) {
    const char *name = arguments[1];
    auto is = [name](const char *other) { return !strcmp(name, other); };
    if (is("collatz")) collatz();
    if (is("switch")) switches();
    if (is("captured")) captured();
    if (is("endless")) endless();
    if (is("host_in_body")) host_in_body();
    if (is("bogus")) {
        bogus<<<1, 1>>>();
        puts(cudaGetErrorName(cudaDeviceSynchronize()));
    }
#ifdef DEVICE_LAUNCHES
    if (is("device_graphs")) device_graphs();
    if (is("plain_graph")) plain_graph();
#endif
    return 0;
}
