#include "api/streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "api/context.h"
#include "api/errors.h"
#include "api/graphs.h"
#include "checks/call_errors.h"
#include "exec/observe.h"
#include "report/report.h"
#include "report/session.h"

namespace emu {

namespace {

std::recursive_mutex streams_mutex;
std::map<cudaStream_t, std::unique_ptr<Stream>> streams;
std::map<cudaEvent_t, std::shared_ptr<Event>> events;
unsigned long long next_stream_id = 1;
// Destroyed streams and events stay a while, so that their handles are not soon given out again.
std::deque<std::pair<const void *, std::shared_ptr<void>>> destroyed;
constexpr size_t max_destroyed = 1024;

template <class Table>
bool destroy(Table &table, typename Table::key_type handle) {
    auto found = table.find(handle);
    if (found == table.end()) return false;
    destroyed.emplace_back(handle, std::move(found->second));
    table.erase(found);
    if (destroyed.size() > max_destroyed) destroyed.pop_front();
    return true;
}

// Says why `handle` means nothing.
void explain_handle(const char *what, const void *handle) {
    auto is_it = [handle](const auto &candidate) { return candidate.first == handle; };
    bool was = std::any_of(destroyed.begin(), destroyed.end(), is_it);
    explain(was ? "use after destruction" : "invalid handle",
            std::string(was ? "the " : "the handle is no ") + what + (was ? " was destroyed before" : "'s"));
}

Stream *default_stream(cudaStream_t handle) {
    static Stream legacy, per_thread;
    return handle == cudaStreamPerThread ? &per_thread : &legacy;
}

Stream &legacy_stream() { return *default_stream(nullptr); }

TaskPointer next_task(Stream &stream, bool is_launch) {
    std::lock_guard lock(streams_mutex);
    note_host_accesses();
    auto task = std::make_shared<Task>();
    task->before = order_of(stream);
    task->line = stream.line;
    task->number = ++stream.tasks;
    stream.known[stream.line] = stream.tasks;
    if (observe_settings().check_full && !is_launch) task->frames = program_frames(&task->call);
    return task;
}

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

cudaStream_t add_stream(unsigned flags, int priority) {
    std::lock_guard lock(streams_mutex);
    auto stream = std::make_unique<Stream>();
    stream->flags = flags;
    stream->priority = priority;
    stream->id = ++next_stream_id;
    auto handle = reinterpret_cast<cudaStream_t>(stream.get());
    streams[handle] = std::move(stream);
    return handle;
}

cudaEvent_t add_event(unsigned flags) {
    std::lock_guard lock(streams_mutex);
    auto event = std::make_shared<Event>();
    event->flags = flags;
    auto handle = reinterpret_cast<cudaEvent_t>(event.get());
    events[handle] = std::move(event);
    return handle;
}

bool destroy_stream(cudaStream_t handle) {
    std::lock_guard lock(streams_mutex);
    Stream *stream = stream_of(handle);
    if (stream && !(stream->flags & cudaStreamNonBlocking)) join(legacy_stream().known, stream->known);
    return stream && destroy(streams, handle);
}

bool destroy_event(cudaEvent_t handle) {
    std::lock_guard lock(streams_mutex);
    return event_of(handle) && destroy(events, handle);
}

void forget_streams() {
    std::lock_guard lock(streams_mutex);
    while (!streams.empty()) destroy(streams, streams.begin()->first);
    while (!events.empty()) destroy(events, events.begin()->first);
    *default_stream(cudaStreamLegacy) = {};
    *default_stream(cudaStreamPerThread) = {};
}

Stream *stream_of(cudaStream_t handle) {
    if (!handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return default_stream(handle);
    std::lock_guard lock(streams_mutex);
    auto found = streams.find(handle);
    if (found != streams.end()) return found->second.get();
    explain_handle("stream", handle);
    return nullptr;
}

Event *event_of(cudaEvent_t handle) {
    std::lock_guard lock(streams_mutex);
    auto found = events.find(handle);
    if (found != events.end()) return found->second.get();
    explain_handle("event", handle);
    return nullptr;
}

uint32_t Stream::new_line() {
    static std::atomic<uint32_t> lines{0};
    return ++lines;
}

void wait_for_device() {
    host_waits();
    std::lock_guard lock(streams_mutex);
    for (Stream *stream : {&legacy_stream(), default_stream(cudaStreamPerThread)}) stream->known.clear();
    for (const auto &[handle, stream] : streams) stream->known.clear();
    for (const auto &[handle, event] : events) event->known.clear();
}

// The legacy stream and all blocking ones wait for each other.
TaskClock order_of(Stream &stream) {
    std::lock_guard lock(streams_mutex);
    join(stream.known, host_clock());
    if (&stream == &legacy_stream()) {
        join(stream.known, default_stream(cudaStreamPerThread)->known);
        for (const auto &[handle, other] : streams) {
            if (!(other->flags & cudaStreamNonBlocking)) join(stream.known, other->known);
        }
    } else if (!(stream.flags & cudaStreamNonBlocking)) {
        join(stream.known, legacy_stream().known);
    }
    return stream.known;
}

void carry_out(Stream &stream) { drain(order_of(stream)); }

cudaError_t check_legacy(cudaStream_t handle) {
    if (handle && handle != cudaStreamLegacy) return cudaSuccess;
    std::lock_guard lock(streams_mutex);
    cudaError_t error = cudaSuccess;
    for (const auto &[other, stream] : streams) {
        if (!stream->capture || stream->flags & cudaStreamNonBlocking) continue;
        stream->capture->spoilt = true;
        error = cudaErrorStreamCaptureImplicit;
    }
    return error;
}

cudaError_t submit(cudaStream_t handle, cudaGraphNodeType type, Work work, Manner manner) {
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = check_legacy(handle)) return fail(error);
    if (!stream->capture) {
        bool is_launch = type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeGraph;
        TaskPointer task = next_task(*stream, is_launch);
        if (cudaError_t error = enqueue(task, std::move(work))) return fail(error);
        if (manner.waits) host_waits(stream->known);
        if (manner.at_once) carry_out(*stream);
        if (!manner.waits) host_goes_on(*task);
        return manner.waits ? fail(sticky()) : cudaSuccess;
    }
    std::lock_guard lock(streams_mutex);
    Graph &graph = *stream->capture;
    if (graph.spoilt) return fail(cudaErrorStreamCaptureInvalidated);
    stream->last = {graph.add(type, std::move(work), stream->last)};
    ++stream->behind[stream];
    return cudaSuccess;
}

bool breaks_capture() {
    std::lock_guard lock(streams_mutex);
    bool broken = false;
    for (const auto &[handle, stream] : streams) {
        if (!stream->capture || !stream->capture_origin || stream->capture_mode == cudaStreamCaptureModeRelaxed)
            continue;
        bool is_of_others = stream->capture_thread != std::this_thread::get_id();
        if (stream->capture_mode == cudaStreamCaptureModeThreadLocal && is_of_others) continue;
        stream->capture->spoilt = true;
        broken = true;
    }
    return broken;
}

bool has_unjoined_work(const std::shared_ptr<Graph> &graph, const Stream &origin) {
    std::lock_guard lock(streams_mutex);
    return std::any_of(streams.begin(), streams.end(), [&](const auto &it) {
        const Stream *stream = it.second.get();
        if (stream->capture != graph || !stream->behind.count(stream)) return false;
        auto joined = origin.behind.find(stream);
        return joined == origin.behind.end() || joined->second < stream->behind.at(stream);
    });
}

void end_capture(const std::shared_ptr<Graph> &graph) {
    std::lock_guard lock(streams_mutex);
    for (auto &[handle, stream] : streams) {
        if (stream->capture == graph) {
            stream->capture.reset();
            stream->capture_origin = false;
            stream->behind.clear();
            stream->last.clear();
        }
    }
    for (auto &[handle, event] : events) {
        if (event->capture != graph) continue;
        event->capture.reset();
        event->last.clear();
    }
}

cudaStream_t captured_stream() {
    std::lock_guard lock(streams_mutex);
    for (const auto &[handle, stream] : streams) {
        if (stream->capture) return handle;
    }
    return nullptr;
}

void note_record(Event &event) {
    event.recorded = true;
    event.at_s = now_s();
    event.launches = report().launch_count();
}

void record(cudaEvent_t handle, Stream &stream) {
    std::shared_ptr<Event> event;
    {
        std::lock_guard lock(streams_mutex);
        event = events.at(handle);
    }
    event->recorded = true;
    enqueue(next_task(stream, true), [event] {
        note_record(*event);
        return cudaSuccess;
    });
    event->known = stream.known;
}

}  // namespace emu
