// Programs that launch kernels from kernels: argv[1] names one. Prints what was computed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

__device__ unsigned generations, counted, order_of_work[8], order_end;

// Each generation launches the next.
__global__ void descend(unsigned depth) {
    generations = depth;
    descend<<<1, 1>>>(depth + 1);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) printf("generation %u: %s\n", depth + 1, cudaGetErrorName(error));
}

__global__ void count(unsigned by) { atomicAdd(&counted, by); }

__global__ void launch_many(unsigned each) {
    for (unsigned i = 0; i < each; ++i) count<<<1, 1, 0, cudaStreamFireAndForget>>>(1);
    if (cudaGetLastError() != cudaSuccess) atomicAdd(&counted, 1000000);
}

__global__ void quicksort(int *values, int left, int right) {
    int low = left, high = right, pivot = values[(left + right) / 2];
    while (low <= high) {
        while (values[low] < pivot) ++low;
        while (values[high] > pivot) --high;
        if (low <= high) {
            int other = values[low];
            values[low++] = values[high];
            values[high--] = other;
        }
    }
    cudaStream_t streams[2];
    if (left < high) {
        cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, streams[0]>>>(values, left, high);
        cudaStreamDestroy(streams[0]);
    }
    if (low < right) {
        cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, streams[1]>>>(values, low, right);
        cudaStreamDestroy(streams[1]);
    }
}

__global__ void merge(const int *from, int *to, int count) {
    int middle = count / 2, at = threadIdx.x + blockIdx.x * blockDim.x;
    if (at >= count) return;
    // Where the element goes: its own rank, and that in the other half.
    bool is_first = at < middle;
    int low = is_first ? middle : 0, high = is_first ? count : middle, own = is_first ? at : at - middle;
    int begin = low;
    while (low < high) {
        int half = (low + high) / 2;
        if (from[half] < from[at] || (from[half] == from[at] && !is_first)) low = half + 1;
        else high = half;
    }
    to[own + low - begin] = from[at];
}

// Sorts `values`, with as much room in `room`: both halves, then a tail launch that merges, and one that copies back.
__global__ void mergesort(int *values, int *room, int count) {
    if (count < 2) return;
    int middle = count / 2;
    mergesort<<<1, 1, 0, cudaStreamFireAndForget>>>(values, room, middle);
    mergesort<<<1, 1, 0, cudaStreamFireAndForget>>>(values + middle, room + middle, count - middle);
    merge<<<(count + 63) / 64, 64, 0, cudaStreamTailLaunch>>>(values, room, count);
    cudaMemcpyAsync(values, room, count * sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
}

struct Search {
    const int *begins, *edges;
    int *levels, *frontier[2], *sizes;  // the nodes of this level and of the next, and how many there are
};

__global__ void expand(Search search, int node, int level) {
    int at = search.begins[node] + threadIdx.x;
    if (at >= search.begins[node + 1]) return;
    int next = search.edges[at], side = (level + 1) % 2;
    if (atomicMin(&search.levels[next], level + 1) <= level + 1) return;
    search.frontier[side][atomicAdd(&search.sizes[side], 1)] = next;
}

// A launch for each node of the level, then the next level behind all of them.
__global__ void go_on(Search search, int level) {
    int side = level % 2;
    if (search.sizes[side] == 0) return;
    for (int i = 0; i < search.sizes[side]; ++i) {
        int node = search.frontier[side][i], degree = search.begins[node + 1] - search.begins[node];
        if (degree) expand<<<1, degree>>>(search, node, level);
    }
    cudaMemsetAsync(&search.sizes[side], 0, sizeof(int), cudaStreamTailLaunch);
    go_on<<<1, 1, 0, cudaStreamTailLaunch>>>(search, level + 1);
}

__global__ void note(unsigned what) { order_of_work[order_end++] = what; }

__global__ void orders() {
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(7);
    note<<<1, 1>>>(1);
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    note<<<1, 1>>>(2);
    cudaEventRecord(event, 0);
    cudaStreamWaitEvent(first, event, 0);
    note<<<1, 1, 0, first>>>(3);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    note<<<1, 1, 0, second>>>(4);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(8);
    cudaEventDestroy(event);
}

// A loop without the host.
__global__ void steps(unsigned left) {
    ++counted;
    if (left > 1) steps<<<1, 1, 0, cudaStreamTailLaunch>>>(left - 1);
}

__global__ void asks(int *out) {
    int device = -1, multiprocessors = 0, blocks = 0, version = 0;
    cudaFuncAttributes attributes;
    size_t limit = 0;
    int *memory = nullptr;
    cudaError_t errors[] = {
        cudaGetDevice(&device), cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count, 128, 0), cudaFuncGetAttributes(&attributes, merge),
        cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount), cudaRuntimeGetVersion(&version),
        cudaMalloc(&memory, 64)};
    int right = 0;
    for (cudaError_t error : errors) right += error == cudaSuccess;
    memory[3] = 5;
    out[0] = right;
    out[1] = device;
    out[2] = multiprocessors > 0 && blocks > 0 && attributes.maxThreadsPerBlock == 1024 && limit == 2048 && version >= 13000;
    out[3] = memory[3];
    cudaFree(memory);
    cudaStream_t blocking;
    out[4] = cudaStreamCreateWithFlags(&blocking, cudaStreamDefault);
    out[5] = cudaPeekAtLastError();
    out[6] = cudaGetLastError();
    out[7] = cudaGetLastError();
    cudaMemsetAsync(out + 8, 0, 2 * sizeof(int), 0);
}

template <class Value>
Value read(const Value &symbol) {
    Value value;
    cudaMemcpyFromSymbol(&value, symbol, sizeof value);
    return value;
}

static std::vector<int> numbers(int count) {
    std::vector<int> values;
    for (unsigned i = 0, x = 12345; i < static_cast<unsigned>(count); ++i) values.push_back(static_cast<int>((x = x * 1664525 + 1013904223) >> 8));
    return values;
}

template <class Sort>
void sort(int count, Sort launch) {
    std::vector<int> values = numbers(count), expected = values;
    std::sort(expected.begin(), expected.end());
    int *memory, *room;
    cudaMalloc(&memory, count * sizeof(int));
    cudaMalloc(&room, count * sizeof(int));
    cudaMemcpy(memory, values.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    launch(memory, room);
    cudaMemcpy(values.data(), memory, count * sizeof(int), cudaMemcpyDeviceToHost);
    puts(values == expected ? "sorted" : "wrong");
    cudaFree(memory);
    cudaFree(room);
}

static void search() {
    constexpr int nodes = 200;
    std::vector<int> begins{0}, edges, levels(nodes, 1 << 20), expected;
    for (int node = 0; node < nodes; ++node) {
        for (int next : {2 * node + 1, 2 * node + 2, node * 7 % 50}) {
            if (next < nodes) edges.push_back(next);
        }
        begins.push_back(static_cast<int>(edges.size()));
    }
    levels[0] = 0;
    expected = levels;
    std::vector<int> queue{0};
    for (size_t i = 0; i < queue.size(); ++i) {
        int node = queue[i];
        for (int at = begins[node]; at < begins[node + 1]; ++at) {
            if (expected[edges[at]] <= expected[node] + 1) continue;
            expected[edges[at]] = expected[node] + 1;
            queue.push_back(edges[at]);
        }
    }
    std::vector<int> frontier(nodes), sizes{1, 0};
    int *on[6];
    const std::vector<int> *host[] = {&begins, &edges, &levels, &frontier, &frontier, &sizes};
    for (int i = 0; i < 6; ++i) {
        cudaMalloc(&on[i], host[i]->size() * sizeof(int));
        cudaMemcpy(on[i], host[i]->data(), host[i]->size() * sizeof(int), cudaMemcpyHostToDevice);
    }
    go_on<<<1, 1>>>({on[0], on[1], on[2], {on[3], on[4]}, on[5]}, 0);
    cudaMemcpy(levels.data(), on[2], nodes * sizeof(int), cudaMemcpyDeviceToHost);
    puts(levels == expected ? "found" : "wrong");
    for (int *it : on) cudaFree(it);
}

int main(int, char **arguments) {
    const char *name = arguments[1];
    auto is = [name](const char *other) { return !strcmp(name, other); };
    if (is("descend")) {
        descend<<<1, 1>>>(0);
        printf("%u\n", read(generations));
    } else if (is("many")) {
        launch_many<<<5, 1>>>(400);
        printf("%u\n", read(counted));
    } else if (is("too_many")) {
        launch_many<<<1, 1>>>(2500);
        printf("%u\n", read(counted));
    } else if (is("more")) {
        cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 8192);
        launch_many<<<5, 1>>>(1000);
        printf("%u\n", read(counted));
    } else if (is("quicksort")) {
        sort(300, [](int *values, int *) { quicksort<<<1, 1>>>(values, 0, 299); });
    } else if (is("mergesort")) {
        sort(300, [](int *values, int *room) { mergesort<<<1, 1>>>(values, room, 300); });
    } else if (is("search")) {
        search();
    } else if (is("orders")) {
        orders<<<1, 1>>>();
        cudaDeviceSynchronize();
        unsigned order[8];
        cudaMemcpyFromSymbol(order, order_of_work, sizeof order);
        for (unsigned i = 0; i < read(order_end); ++i) printf("%u ", order[i]);
        puts("");
    } else if (is("steps")) {
        steps<<<1, 1>>>(5000);
        printf("%u\n", read(counted));
    } else if (is("asks")) {
        int *out, answers[10];
        cudaMalloc(&out, sizeof answers);
        asks<<<1, 1>>>(out);
        cudaMemcpy(answers, out, sizeof answers, cudaMemcpyDeviceToHost);
        for (int answer : answers) printf("%d ", answer);
        puts("");
        cudaFree(out);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error) puts(cudaGetErrorName(error));
    return error != cudaSuccess;
}
