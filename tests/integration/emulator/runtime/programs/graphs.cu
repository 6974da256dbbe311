// Graphs changed after they were made. Each function returns 0, or the line of the first thing that is not as it should be.
#include <cuda_runtime.h>

#define CHECK(call) do { if ((call) != cudaSuccess) return __LINE__; } while (0)
#define FAILS(call, error) do { if ((call) != (error)) return __LINE__; cudaGetLastError(); } while (0)
#define THAT(condition) do { if (!(condition)) return __LINE__; } while (0)

__global__ void add(int* value, int n) { *value += n; }
__global__ void scale(int* value, int n) { *value *= n; }

__device__ int cell;
static int* value;  // the cell
static int read_value() {
    int seen = -1;
    cudaMemcpy(&seen, value, sizeof seen, cudaMemcpyDeviceToHost);
    return seen;
}

static int run(cudaGraphExec_t graph, int start) {
    cudaMemcpy(value, &start, sizeof start, cudaMemcpyHostToDevice);
    if (cudaGraphLaunch(graph, 0) || cudaDeviceSynchronize()) return -1;
    return read_value();
}

static cudaKernelNodeParams kernel(void* function, int* n) {
    static void* arguments[2];
    arguments[0] = &value;
    arguments[1] = n;
    return {function, dim3(1), dim3(1), 0, arguments, nullptr};
}

// (value + 3) * 5
static int make(cudaGraph_t* graph, cudaGraphNode_t* first, cudaGraphNode_t* second) {
    int three = 3, five = 5;
    CHECK(cudaGetSymbolAddress((void**)&value, cell));
    CHECK(cudaGraphCreate(graph, 0));
    auto params = kernel((void*)add, &three);
    CHECK(cudaGraphAddKernelNode(first, *graph, nullptr, 0, &params));
    params = kernel((void*)scale, &five);
    CHECK(cudaGraphAddKernelNode(second, *graph, first, 1, &params));
    return 0;
}

extern "C" int clones() {
    cudaGraph_t graph, copy;
    cudaGraphNode_t first, second, found, listed[2];
    cudaGraphExec_t original, changed;
    if (int line = make(&graph, &first, &second)) return line;
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphNodeFindInClone(&found, first, copy));
    THAT(found != first);
    int ten = 10;
    auto params = kernel((void*)add, &ten);
    CHECK(cudaGraphKernelNodeSetParams(found, &params));
    CHECK(cudaGraphInstantiate(&original, graph, 0));
    CHECK(cudaGraphInstantiate(&changed, copy, 0));
    THAT(run(original, 1) == 20);
    THAT(run(changed, 1) == 55);
    size_t count = 2;
    CHECK(cudaGraphNodeGetDependentNodes(found, listed, nullptr, &count));
    THAT(count == 1 && listed[0] != second);
    CHECK(cudaGraphNodeGetDependencies(listed[0], nullptr, nullptr, &count));
    THAT(count == 1);
    FAILS(cudaGraphNodeFindInClone(&found, listed[0], graph), cudaErrorInvalidValue);
    CHECK(cudaGraphNodeSetEnabled(original, second, 0));
    unsigned enabled = 1;
    CHECK(cudaGraphNodeGetEnabled(original, second, &enabled));
    THAT(enabled == 0 && run(original, 1) == 4);
    CHECK(cudaGraphNodeSetEnabled(original, second, 1));
    THAT(run(original, 1) == 20);
    return 0;
}

extern "C" int edges() {
    cudaGraph_t graph;
    cudaGraphNode_t first, second;
    cudaGraphExec_t executable;
    if (int line = make(&graph, &first, &second)) return line;
    CHECK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
    FAILS(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue);
    CHECK(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
    cudaGraphInstantiateParams params = {};
    CHECK(cudaGraphInstantiateWithParams(&executable, graph, &params));
    THAT(params.result_out == cudaGraphInstantiateSuccess);
    THAT(run(executable, 1) == 8);
    return 0;
}

static void CUDART_CB note(void* at) { ++*(int*)at; }

extern "C" int kinds() {
    cudaGraph_t graph, child, inside;
    cudaGraphNode_t nodes[5], first, second;
    cudaGraphExec_t executable;
    cudaEvent_t begin, end, seen;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    if (int line = make(&child, &first, &second)) return line;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddEventRecordNode(&nodes[0], graph, nullptr, 0, begin));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeGraph;
    params.graph.graph = child;
    CHECK(cudaGraphAddNode(&nodes[1], graph, nodes, nullptr, 1, &params));
    int noted = 0, two = 2;
    params = {};
    params.type = cudaGraphNodeTypeHost;
    params.host.fn = note;
    params.host.userData = &noted;
    CHECK(cudaGraphAddNode(&nodes[2], graph, nodes + 1, nullptr, 1, &params));
    params = {};
    params.type = cudaGraphNodeTypeKernel;
    auto doubled = kernel((void*)scale, &two);
    params.kernel.func = (void*)scale;
    params.kernel.gridDim = params.kernel.blockDim = dim3(1);
    params.kernel.kernelParams = doubled.kernelParams;
    CHECK(cudaGraphAddNode(&nodes[3], graph, nodes + 2, nullptr, 1, &params));
    CHECK(cudaGraphAddEventRecordNode(&nodes[4], graph, nodes + 3, 1, begin));
    CHECK(cudaGraphEventRecordNodeSetEvent(nodes[4], end));
    CHECK(cudaGraphEventRecordNodeGetEvent(nodes[4], &seen));
    THAT(seen == end);
    CHECK(cudaGraphChildGraphNodeGetGraph(nodes[1], &inside));
    size_t count = 0;
    CHECK(cudaGraphGetNodes(inside, nullptr, &count));
    THAT(count == 2 && inside != child);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    THAT(run(executable, 1) == 40 && noted == 1);
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    THAT(milliseconds >= 0);
    for (auto type : {cudaGraphNodeTypeExtSemaphoreWait, cudaGraphNodeType(99)}) {
        params = {};
        params.type = type;
        FAILS(cudaGraphAddNode(&nodes[0], graph, nullptr, nullptr, 0, &params), cudaErrorNotSupported);
    }
    params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.type = cudaGraphCondTypeIf;
    params.conditional.size = 2;
    FAILS(cudaGraphAddNode(&nodes[0], graph, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);  // it has no handle
    return 0;
}

static size_t graph_bytes(cudaGraphMemAttributeType which) {
    size_t bytes = 99;
    cudaDeviceGetGraphMemAttribute(0, which, &bytes);
    return bytes;
}

// Memory of `size` bytes that the graph fills with sevens, and copies to the cell.
static int allocating(cudaGraph_t* graph, void** memory, size_t size, cudaGraphNode_t* last) {
    cudaGraphNode_t allocated, filled;
    CHECK(cudaGetSymbolAddress((void**)&value, cell));
    CHECK(cudaGraphCreate(graph, 0));
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeMemAlloc;
    params.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    params.alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    params.alloc.bytesize = size;
    CHECK(cudaGraphAddNode(&allocated, *graph, nullptr, nullptr, 0, &params));
    *memory = params.alloc.dptr;
    cudaMemsetParams fill = {};
    fill.dst = *memory;
    fill.value = 7;
    fill.elementSize = 4;
    fill.width = size / 4;
    fill.height = 1;
    CHECK(cudaGraphAddMemsetNode(&filled, *graph, &allocated, 1, &fill));
    CHECK(cudaGraphAddMemcpyNode1D(last, *graph, &filled, 1, value, *memory, 4, cudaMemcpyDeviceToDevice));
    return 0;
}

extern "C" int memory_of_its_own() {
    cudaGraph_t graph;
    cudaGraphNode_t copied, freed;
    cudaGraphExec_t executable;
    void* memory;
    if (int line = allocating(&graph, &memory, 1 << 16, &copied)) return line;
    THAT(graph_bytes(cudaGraphMemAttrUsedMemHigh) == 0);
    FAILS(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, nullptr), cudaErrorInvalidValue);
    CHECK(cudaGraphAddMemFreeNode(&freed, graph, &copied, 1, memory));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    for (int launch = 0; launch < 3; ++launch) {
        THAT(run(executable, 1) == 7);
        FAILS(cudaFree(memory), cudaErrorInvalidValue);
        THAT(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == 0);
        THAT(graph_bytes(cudaGraphMemAttrReservedMemHigh) == 1 << 16);
    }
    size_t none = 0;
    CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &none));
    THAT(graph_bytes(cudaGraphMemAttrUsedMemHigh) == 0);
    CHECK(cudaDeviceGraphMemTrim(0));
    CHECK(cudaGraphExecDestroy(executable));
    return 0;
}

// The program frees it, or the next launch does.
extern "C" int memory_that_stays() {
    cudaGraph_t graph;
    cudaGraphNode_t copied;
    cudaGraphExec_t strict, forgiving;
    void* memory;
    if (int line = allocating(&graph, &memory, 4096, &copied)) return line;
    CHECK(cudaGraphInstantiate(&strict, graph, 0));
    CHECK(cudaGraphInstantiate(&forgiving, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    THAT(run(strict, 1) == 7);
    THAT(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == 4096);
    FAILS(cudaGraphLaunch(strict, 0), cudaErrorInvalidValue);
    THAT(run(forgiving, 1) == 7);
    CHECK(cudaFree(memory));
    THAT(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == 0);
    THAT(run(strict, 1) == 7);
    CHECK(cudaFreeAsync(memory, 0));
    CHECK(cudaDeviceSynchronize());
    THAT(graph_bytes(cudaGraphMemAttrUsedMemCurrent) == 0);
    return 0;
}

extern "C" int memory_by_capture() {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaStream_t stream;
    int* memory;
    CHECK(cudaGetSymbolAddress((void**)&value, cell));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMallocAsync(&memory, 4, stream));
    CHECK(cudaMemsetAsync(memory, 0, 4, stream));
    add<<<1, 1, 0, stream>>>(memory, 41);
    CHECK(cudaMemcpyAsync(value, memory, 4, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaFreeAsync(memory, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t count = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    THAT(count == 5);
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    THAT(run(executable, 1) == 41 && run(executable, 2) == 41);
    FAILS(cudaFree(memory), cudaErrorInvalidValue);
    return 0;
}
