// Streams and what is captured on them. Work runs at once and in order, unless the stream is being captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <thread>

namespace emu {

using Work = std::function<cudaError_t()>;

struct Graph;
struct Stream;

// How many pieces of captured work of each stream something is behind.
using Behind = std::map<const Stream *, unsigned>;

struct Stream {
    unsigned flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    // The graph that its work goes into while it is being captured, or null.
    std::shared_ptr<Graph> capture;
    bool capture_origin = false;  // the stream on which the capture began
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    std::thread::id capture_thread;  // that began it
    Behind behind;                   // what its next captured work is
};

struct Event {
    unsigned flags = 0;
    bool recorded = false;
    double at_s = 0;
    uint64_t launches = 0;           // that had run before
    std::shared_ptr<Graph> capture;  // where it was recorded, when that was in a capture
    Behind behind;
};

// What a handle means (the default streams have one too), or null for a handle that is none.
Stream *stream_of(cudaStream_t handle);
Event *event_of(cudaEvent_t handle);

// Runs `work` now, or notes it as a node of the graph that is being captured on `stream`.
cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, Work work);

// For calls such as cudaMalloc, which most modes of capture forbid: true when there is such a capture, which is then spoilt.
bool breaks_capture();

// Whether some stream of the capture of `graph` has work that `origin` does not wait for.
bool has_unjoined_work(const std::shared_ptr<Graph> &graph, const Stream &origin);

// Takes the streams that belong to the capture of `graph` out of it.
void end_capture(const std::shared_ptr<Graph> &graph);

}  // namespace emu
