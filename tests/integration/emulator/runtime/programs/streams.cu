// Work in several streams: some of it does not wait for what it needs, some does. Tests look for the marked lines.
//
// Each case fills `out` (256 numbers) with 1, then with those numbers plus 1, in two kernels or calls. Each returns the last error.

#include <cuda_runtime.h>

__device__ int between[256];
__constant__ int table[256];

__global__ void first(int* to) {
    to[threadIdx.x] = 1;  // first
}

__global__ void second(const int* from, int* to) {
    to[threadIdx.x] = from[threadIdx.x] + 1;  // second
}

__global__ void third(int* to) {
    to[threadIdx.x] = table[threadIdx.x] + 1;  // third
}

__global__ void count(int* counter) { atomicAdd(counter, 1); }

struct Streams {
    cudaStream_t one, two;
    cudaEvent_t event;
    explicit Streams(unsigned flags) {
        cudaStreamCreateWithFlags(&one, flags);
        cudaStreamCreateWithFlags(&two, flags);
        cudaEventCreate(&event);
    }
    ~Streams() {
        cudaStreamDestroy(one);
        cudaStreamDestroy(two);
        cudaEventDestroy(event);
    }
    cudaError_t end() {
        cudaError_t error = cudaDeviceSynchronize();
        return error ? error : cudaGetLastError();
    }
};

#define CASE(name) extern "C" int run_##name(int* middle, int* out)

CASE(wrong_no_event) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(wrong_constant) {
    Streams s(cudaStreamNonBlocking);
    int zeros[256] = {};
    cudaMemcpyToSymbol(table, zeros, 1024);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaMemcpyToSymbolAsync(table, middle, 1024, 0, cudaMemcpyDeviceToDevice, s.one);
    third<<<1, 256, 0, s.two>>>(out);
    return s.end();
}

CASE(right_constant) {
    Streams s(cudaStreamNonBlocking);
    for (int round = 0; round < 2; ++round) {
        first<<<1, 256, 0, s.one>>>(middle);
        cudaMemcpyToSymbolAsync(table, middle, 1024, 0, cudaMemcpyDeviceToDevice, s.one);
        cudaEventRecord(s.event, s.one);
        cudaStreamWaitEvent(s.two, s.event, 0);
        third<<<1, 256, 0, s.two>>>(out);
        cudaEventRecord(s.event, s.two);
        cudaStreamWaitEvent(s.one, s.event, 0);
    }
    return s.end();
}

CASE(wrong_blocking_streams) {
    Streams s(cudaStreamDefault);
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(wrong_default_and_non_blocking) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256>>>(middle);
    second<<<1, 256, 0, s.one>>>(middle, out);
    return s.end();
}

CASE(wrong_event_too_early) {
    Streams s(cudaStreamNonBlocking);
    cudaEventRecord(s.event, s.one);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaStreamWaitEvent(s.two, s.event, 0);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(wrong_other_stream_waited_for) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaStreamSynchronize(s.two);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(wrong_copy) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaMemcpyAsync(between, middle, 0, cudaMemcpyDefault, s.two);
    cudaMemcpyToSymbolAsync(between, middle, 1024, 0, cudaMemcpyDeviceToDevice, s.two);
    int* at = nullptr;
    cudaGetSymbolAddress((void**)&at, between);
    second<<<1, 256, 0, s.two>>>(at, out);
    return s.end();
}

CASE(wrong_fill) {
    Streams s(cudaStreamNonBlocking);
    cudaMemsetAsync(middle, 0, 1024, s.one);
    first<<<1, 256, 0, s.two>>>(middle);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(wrong_graph) {
    Streams s(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(s.two, s.event, 0);
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.two>>>(middle, out);
    cudaEventRecord(s.event, s.two);
    cudaStreamWaitEvent(s.one, s.event, 0);
    cudaStreamEndCapture(s.one, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, s.one);
    cudaError_t error = s.end();
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    return error;
}

CASE(right_one_stream) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.one>>>(middle, out);
    return s.end();
}

CASE(right_event) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(s.two, s.event, 0);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(right_two_events) {
    Streams s(cudaStreamNonBlocking);
    cudaStream_t three;
    cudaStreamCreateWithFlags(&three, cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(three, s.event, 0);
    cudaEventRecord(s.event, three);
    cudaStreamWaitEvent(s.two, s.event, 0);
    second<<<1, 256, 0, s.two>>>(middle, out);
    cudaStreamDestroy(three);
    return s.end();
}

CASE(right_default_stream_between) {
    Streams s(cudaStreamDefault);
    first<<<1, 256, 0, s.one>>>(middle);
    int* at = nullptr;
    cudaGetSymbolAddress((void**)&at, between);
    second<<<1, 256>>>(middle, at);
    cudaMemcpyAsync(out, at, 1024, cudaMemcpyDeviceToDevice, s.two);
    return s.end();
}

CASE(right_stream_waited_for) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaStreamSynchronize(s.one);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(right_event_waited_for) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaEventRecord(s.event, s.one);
    cudaEventSynchronize(s.event);
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(right_event_asked) {
    Streams s(cudaStreamNonBlocking);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaEventRecord(s.event, s.one);
    while (cudaEventQuery(s.event) == cudaErrorNotReady) {
    }
    second<<<1, 256, 0, s.two>>>(middle, out);
    return s.end();
}

CASE(right_parts) {
    Streams s(cudaStreamNonBlocking);
    for (cudaStream_t stream : {s.one, s.two}) {
        int at = stream == s.one ? 0 : 128;
        first<<<1, 128, 0, stream>>>(middle + at);
        second<<<1, 128, 0, stream>>>(middle + at, out + at);
    }
    return s.end();
}

CASE(right_atomics) {
    Streams s(cudaStreamNonBlocking);
    cudaMemset(middle, 0, 1024);
    count<<<4, 64, 0, s.one>>>(middle);
    count<<<4, 64, 0, s.two>>>(middle);
    cudaDeviceSynchronize();
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.one>>>(middle, out);
    return s.end();
}

CASE(right_pool) {
    Streams s(cudaStreamNonBlocking);
    for (int round = 0; round < 3; ++round) {
        cudaStream_t stream = round % 2 ? s.two : s.one;
        int* own = nullptr;
        cudaMallocAsync(&own, 1024, stream);
        first<<<1, 256, 0, stream>>>(own);
        if (round == 2) second<<<1, 256, 0, stream>>>(own, out);
        cudaFreeAsync(own, stream);
    }
    return s.end();
}

CASE(right_pageable_copies) {
    Streams s(cudaStreamNonBlocking);
    int host[256];
    for (int& value : host) value = 1;
    cudaMemcpyAsync(middle, host, 1024, cudaMemcpyHostToDevice, s.one);
    for (int& value : host) value = 7;
    second<<<1, 256, 0, s.one>>>(middle, out);
    cudaMemcpyAsync(host, out, 1024, cudaMemcpyDeviceToHost, s.one);
    for (int& value : host) {
        if (value != 2) return -1;
    }
    return s.end();
}

CASE(right_host_function) {
    Streams s(cudaStreamNonBlocking);
    volatile int done = 0;
    first<<<1, 256, 0, s.one>>>(middle);
    cudaLaunchHostFunc(s.one, [](void* data) { *static_cast<volatile int*>(data) = 1; }, (void*)&done);
    while (!done) {
    }
    second<<<1, 256, 0, s.one>>>(middle, out);
    return s.end();
}

CASE(right_graph) {
    Streams s(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal);
    first<<<1, 256, 0, s.one>>>(middle);
    cudaEventRecord(s.event, s.one);
    cudaStreamWaitEvent(s.two, s.event, 0);
    second<<<1, 128, 0, s.two>>>(middle, out);
    second<<<1, 128, 0, s.one>>>(middle + 128, out + 128);
    cudaEventRecord(s.event, s.two);
    cudaStreamWaitEvent(s.one, s.event, 0);
    cudaMemcpyAsync(middle, out, 1024, cudaMemcpyDeviceToDevice, s.one);
    cudaStreamEndCapture(s.one, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, s.one);
    cudaGraphLaunch(ready, s.one);
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
    return s.end();
}

CASE(right_times) {
    Streams s(cudaStreamNonBlocking);
    cudaEvent_t end;
    cudaEventCreate(&end);
    cudaEventRecord(s.event, s.one);
    first<<<1, 256, 0, s.one>>>(middle);
    second<<<1, 256, 0, s.one>>>(middle, out);
    cudaEventRecord(end, s.one);
    cudaEventSynchronize(end);
    float ms = -1;
    cudaEventElapsedTime(&ms, s.event, end);
    cudaEventDestroy(end);
    return ms > 0 ? s.end() : cudaErrorUnknown;
}
