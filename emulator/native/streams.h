// Streams and what is captured on them. Work runs at once and in order, unless the stream is being captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace emu {

using Work = std::function<cudaError_t()>;

struct Graph;

struct Stream {
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    std::shared_ptr<Graph> capture;       // what its work goes into, or null
    bool capture_origin = false;          // the stream on which the capture began
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    unsigned long long capture_id = 0;
};

struct Event {
    unsigned flags = 0;
    bool recorded = false;
    double at_s = 0;
    std::shared_ptr<Graph> capture;  // where it was recorded, when that was in a capture
};

// The stream behind a handle (the default streams have one too), or null for a handle that is none.
Stream *stream_of(cudaStream_t handle);
Event *event_of(cudaEvent_t handle);

// Runs `work` now, or notes it as a node of the graph that is being captured on `stream`.
// `type` and `params` are what cudaGraphNodeGetType and the like answer.
cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, Work work);

// True while any stream is capturing in a mode which forbids calls such as cudaMalloc or a synchronisation.
bool capture_forbids_unsafe_calls();

}  // namespace emu
