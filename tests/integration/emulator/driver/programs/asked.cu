// What can be asked of kernel nodes and of managed memory, by the runtime and by the driver.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

#define CHECK(call)                                       \
    do {                                                  \
        if (int code = int(call)) {                       \
            std::printf("line %d: %d\n", __LINE__, code); \
            return 1;                                     \
        }                                                 \
    } while (0)
#define FAILS(call)                                      \
    do {                                                 \
        if (int(call) != 1) {                            \
            std::printf("line %d succeeds\n", __LINE__); \
            return 1;                                    \
        }                                                \
    } while (0)
#define THAT(condition)                         \
    do {                                        \
        if (!(condition)) {                     \
            std::printf("line %d\n", __LINE__); \
            return 1;                           \
        }                                       \
    } while (0)

struct Pair {
    char tag;
    double number;
};

__global__ void store(double *out, Pair pair, int n) { *out = pair.tag + pair.number * n + threadIdx.x; }

static bool is_store(const cudaKernelNodeParams &params, double *out, double number, int n, unsigned threads) {
    return params.func == (void *)store && params.gridDim.x == 1 && params.blockDim.x == threads &&
           params.sharedMemBytes == 64 && !params.extra && *(double **)params.kernelParams[0] == out &&
           ((Pair *)params.kernelParams[1])->number == number && *(int *)params.kernelParams[2] == n;
}

static int of_nodes() {
    double *out;
    CHECK(cudaMalloc(&out, sizeof *out));
    Pair pair{'a', 2.5};
    int n = 4;
    void *arguments[] = {&out, &pair, &n};
    cudaKernelNodeParams given{(void *)store, dim3(1), dim3(1), 64, arguments, nullptr}, found;
    cudaGraph_t graph, copy;
    cudaGraphNode_t node, clone, empty, captured;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &given));
    n = 5, pair.number = 0;  // the node has its own
    CHECK(cudaGraphKernelNodeGetParams(node, &found));
    THAT(is_store(found, out, 2.5, 4, 1));

    // What was found makes the same node, and a changed one does not change its clone.
    CHECK(cudaGraphClone(&copy, graph));
    CHECK(cudaGraphNodeFindInClone(&clone, node, copy));
    int seven = 7;
    found.kernelParams[2] = &seven;
    CHECK(cudaGraphKernelNodeSetParams(node, &found));
    CHECK(cudaGraphKernelNodeGetParams(node, &found));
    THAT(is_store(found, out, 2.5, 7, 1));
    CHECK(cudaGraphKernelNodeGetParams(clone, &found));
    THAT(is_store(found, out, 2.5, 4, 1));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    double result = 0;
    CHECK(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDefault));
    THAT(result == 'a' + 17.5);

    // Of a launch that was captured.
    cudaStream_t stream;
    cudaGraph_t of_capture;
    size_t count = 1;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    store<<<1, 2, 64, stream>>>(out, Pair{'b', 1.5}, 3);
    CHECK(cudaStreamEndCapture(stream, &of_capture));
    CHECK(cudaGraphGetNodes(of_capture, &captured, &count));
    CHECK(cudaGraphKernelNodeGetParams(captured, &found));
    THAT(is_store(found, out, 1.5, 3, 2));

    // The driver tells the same.
    CUfunction function;
    CUDA_KERNEL_NODE_PARAMS of_driver;
    CHECK(cudaGetFuncBySymbol(&function, (void *)store));
    CHECK(cuGraphKernelNodeGetParams(captured, &of_driver));
    THAT(of_driver.func == function && of_driver.gridDimX == 1 && of_driver.blockDimX == 2 && of_driver.blockDimZ == 1);
    THAT(of_driver.sharedMemBytes == 64 && *(int *)of_driver.kernelParams[2] == 3 && !of_driver.extra);

    CHECK(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0));
    FAILS(cudaGraphKernelNodeGetParams(empty, &found));
    FAILS(cudaGraphKernelNodeGetParams(nullptr, &found));
    FAILS(cudaGraphKernelNodeGetParams(node, nullptr));
    FAILS(cuGraphKernelNodeGetParams(empty, &of_driver));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(copy));
    CHECK(cudaGraphDestroy(of_capture));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(out));
    return 0;
}

static int ask(const char *memory, size_t size, cudaMemRangeAttribute which) {
    int answer = -99;
    return cudaMemRangeGetAttribute(&answer, sizeof answer, which, memory, size) ? -100 : answer;
}

static int of_memory() {
    constexpr size_t page = 4096, size = 8 * page;
    constexpr int nowhere = cudaInvalidDeviceId, host = cudaCpuDeviceId;
    cudaMemLocation device{cudaMemLocationTypeDevice, 0}, home{cudaMemLocationTypeHost, 0};
    char *memory, *plain;
    CHECK(cudaMallocManaged(&memory, size));
    CHECK(cudaMalloc(&plain, size));
    THAT(ask(memory, size, cudaMemRangeAttributeReadMostly) == 0);
    THAT(ask(memory, size, cudaMemRangeAttributePreferredLocation) == nowhere);
    THAT(ask(memory, size, cudaMemRangeAttributeLastPrefetchLocation) == nowhere);

    // Advice is about the pages that it names a part of.
    CHECK(cudaMemAdvise(memory + page + 1, page, cudaMemAdviseSetReadMostly, device));
    THAT(ask(memory, page, cudaMemRangeAttributeReadMostly) == 0);
    THAT(ask(memory + page, 2 * page, cudaMemRangeAttributeReadMostly) == 1);
    THAT(ask(memory + page, 2 * page + 1, cudaMemRangeAttributeReadMostly) == 0);
    CHECK(cudaMemAdvise(memory, size, cudaMemAdviseUnsetReadMostly, device));
    THAT(ask(memory + page, page, cudaMemRangeAttributeReadMostly) == 0);

    CHECK(cudaMemAdvise(memory, size, cudaMemAdviseSetPreferredLocation, device));
    CHECK(cudaMemAdvise(memory + 4 * page, page, cudaMemAdviseSetPreferredLocation, home));
    THAT(ask(memory, 4 * page, cudaMemRangeAttributePreferredLocation) == 0);
    THAT(ask(memory + 4 * page, page, cudaMemRangeAttributePreferredLocation) == host);
    THAT(ask(memory + 4 * page, page, cudaMemRangeAttributePreferredLocationType) == cudaMemLocationTypeHost);
    THAT(ask(memory, size, cudaMemRangeAttributePreferredLocation) == nowhere);
    CHECK(cudaMemAdvise(memory, size, cudaMemAdviseUnsetPreferredLocation, device));
    THAT(ask(memory + 4 * page, page, cudaMemRangeAttributePreferredLocation) == nowhere);

    CHECK(cudaMemPrefetchAsync(memory, size, device, 0, 0));
    CHECK(cudaMemPrefetchAsync(memory + 6 * page, 2 * page, home, 0, 0));
    THAT(ask(memory, 6 * page, cudaMemRangeAttributeLastPrefetchLocation) == 0);
    THAT(ask(memory + 6 * page, 2 * page, cudaMemRangeAttributeLastPrefetchLocation) == host);
    THAT(ask(memory, size, cudaMemRangeAttributeLastPrefetchLocation) == nowhere);

    int accessors[3];
    CHECK(cudaMemAdvise(memory, size, cudaMemAdviseSetAccessedBy, home));
    CHECK(cudaMemAdvise(memory, page, cudaMemAdviseSetAccessedBy, device));
    CHECK(cudaMemRangeGetAttribute(accessors, sizeof accessors, cudaMemRangeAttributeAccessedBy, memory, page));
    THAT(accessors[0] == 0 && accessors[1] == host && accessors[2] == nowhere);
    CHECK(cudaMemRangeGetAttribute(accessors, sizeof accessors, cudaMemRangeAttributeAccessedBy, memory, size));
    THAT(accessors[0] == host && accessors[1] == nowhere && accessors[2] == nowhere);

    // Several at once, and by the driver.
    int read_mostly = -99;
    void *answers[] = {&read_mostly, accessors};
    size_t sizes[] = {sizeof read_mostly, 2 * sizeof accessors[0]};
    cudaMemRangeAttribute both[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributeAccessedBy};
    CHECK(cudaMemRangeGetAttributes(answers, sizes, both, 2, memory, page));
    THAT(read_mostly == 0 && accessors[0] == 0 && accessors[1] == host);
    int place = -99;
    CHECK(cuMemRangeGetAttribute(&place, sizeof place, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                                 (CUdeviceptr)memory, page));
    THAT(place == 0);

    FAILS(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeReadMostly, plain, page));
    FAILS(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttributeReadMostly, memory, size + 1));
    FAILS(cudaMemRangeGetAttribute(&place, 2, cudaMemRangeAttributeReadMostly, memory, page));
    FAILS(cudaMemRangeGetAttribute(&place, sizeof place, cudaMemRangeAttribute(99), memory, page));
    FAILS(cudaMemRangeGetAttribute(nullptr, sizeof place, cudaMemRangeAttributeReadMostly, memory, page));

    // What comes to lie there later knows nothing of it.
    CHECK(cudaFree(memory));
    CHECK(cudaMallocManaged(&memory, size));
    THAT(ask(memory, size, cudaMemRangeAttributeLastPrefetchLocation) == nowhere);
    CHECK(cudaFree(memory));
    CHECK(cudaFree(plain));
    return 0;
}

int main() {
    if (of_nodes() || of_memory()) return 1;
    cudaGetLastError();
    std::puts("PASS");
}
