// Streams and what is captured on them. Work goes to stream_queue.h, unless the stream is being captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "api/stream_queue.h"

namespace emu {

struct Graph;
struct Node;
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
    std::vector<Node *> last;        // the nodes that its next captured work depends on

    uint32_t line = new_line();
    uint64_t tasks = 0;
    TaskClock known;  // what its next work comes after

    static uint32_t new_line();
};

struct Event {
    unsigned flags = 0;
    bool recorded = false;
    double at_s = 0;
    uint64_t launches = 0;           // that had run before
    std::shared_ptr<Graph> capture;  // where it was recorded, when that was in a capture
    Behind behind;
    std::vector<Node *> last;
    TaskClock known;  // what was to be over when it was recorded
};

// New handles. Both are to be destroyed, which gives false for a handle that is none.
cudaStream_t add_stream(unsigned flags, int priority);
cudaEvent_t add_event(unsigned flags);
bool destroy_stream(cudaStream_t handle);
bool destroy_event(cudaEvent_t handle);

// What a handle means (the default streams have one too), or null for a handle that is none.
Stream *stream_of(cudaStream_t handle);
Event *event_of(cudaEvent_t handle);
// The event is recorded now.
void note_record(Event &event);
// The event, whose handle means one, is recorded when what the stream has been given is done.
void record(cudaEvent_t event, Stream &stream);

// How a call goes about its work.
struct Manner {
    bool waits = false;    // the host goes on when it is done
    bool at_once = false;  // it is done before the call returns, though the host does not count on it
};

// Gives `work` to the stream, or notes it as a node of the graph that is being captured on it.
cudaError_t submit(cudaStream_t stream, cudaGraphNodeType type, Work work, Manner manner = {});

// What the stream's next work comes after.
TaskClock order_of(Stream &stream);
// The legacy stream waits for all blocking streams, which none that is being captured allows: such a capture is spoilt
// then, and this an error.
cudaError_t check_legacy(cudaStream_t handle);

// Waits for all work of the device, as nearly every call does that frees something.
void wait_for_device();
// Carries out what the stream has been given, for calls that need not wait for it on a GPU.
void carry_out(Stream &stream);

// For calls such as cudaMalloc, which most modes of capture forbid: true when there is such a capture, which is then
// spoilt.
bool breaks_capture();

// A stream that is being captured, or null.
cudaStream_t captured_stream();

// Whether some stream of the capture of `graph` has work that `origin` does not wait for.
bool has_unjoined_work(const std::shared_ptr<Graph> &graph, const Stream &origin);

// Takes the streams that belong to the capture of `graph` out of it.
void end_capture(const std::shared_ptr<Graph> &graph);

}  // namespace emu
