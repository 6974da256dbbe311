#include "api/streams.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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

// What the stream's next work comes after. The legacy stream and all blocking ones wait for each other.
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

// The legacy stream waits for all blocking streams, which none that is being captured allows.
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

// The least of the priorities that cudaDeviceGetStreamPriorityRange gives.
constexpr int greatest_priority = -5;

}  // namespace

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

void carry_out(Stream &stream) { drain(order_of(stream)); }

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

void note_record(Event &event) {
    event.recorded = true;
    event.at_s = now_s();
    event.launches = report().launch_count();
}

namespace {

std::shared_ptr<Event> shared_event(cudaEvent_t handle) {
    std::lock_guard lock(streams_mutex);
    auto found = events.find(handle);
    return found == events.end() ? nullptr : found->second;
}

cudaError_t create_stream(cudaStream_t *out, unsigned flags, int priority) {
    EMU_REQUIRE_DEVICE();
    if (!out || flags > cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(streams_mutex);
    auto stream = std::make_unique<Stream>();
    stream->flags = flags;
    stream->priority = priority > 0 ? 0 : priority < greatest_priority ? greatest_priority : priority;
    stream->id = ++next_stream_id;
    *out = reinterpret_cast<cudaStream_t>(stream.get());
    streams[*out] = std::move(stream);
    return cudaSuccess;
}

cudaError_t create_event(cudaEvent_t *out, unsigned flags) {
    EMU_REQUIRE_DEVICE();
    bool of_processes = flags & cudaEventInterprocess;
    bool possible = flags <= 7 && (!of_processes || flags & cudaEventDisableTiming);
    if (!out || !possible) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(streams_mutex);
    auto event = std::make_shared<Event>();
    event->flags = flags;
    *out = reinterpret_cast<cudaEvent_t>(event.get());
    events[*out] = std::move(event);
    return cudaSuccess;
}

// For calls on a stream that wait, or ask whether it is done: it is, then.
cudaError_t wait_for(cudaStream_t handle) {
    EMU_REQUIRE_DEVICE();
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (!stream->capture) {
        host_waits(order_of(*stream));
        return fail(sticky());
    }
    stream->capture->spoilt = true;
    return fail(cudaErrorStreamCaptureUnsupported);
}

// To wait for the whole device is to wait for every stream, captured ones included, whatever the mode.
cudaError_t wait_for_all() {
    EMU_REQUIRE_DEVICE();
    {
        std::lock_guard lock(streams_mutex);
        for (const auto &[handle, stream] : streams) {
            if (stream->capture) return wait_for(handle);
        }
    }
    wait_for_device();
    return fail(sticky());
}

}  // namespace

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaDeviceSynchronize(void) { return wait_for_all(); }

EMU_API cudaError_t cudaStreamCreate(cudaStream_t *out) { return create_stream(out, cudaStreamDefault, 0); }

EMU_API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags) {
    return create_stream(out, flags, 0);
}

EMU_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags, int priority) {
    return create_stream(out, flags, priority);
}

EMU_API cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    std::lock_guard lock(streams_mutex);
    Stream *stream = stream_of(handle);
    if (stream && !(stream->flags & cudaStreamNonBlocking)) join(legacy_stream().known, stream->known);
    if (!stream || !destroy(streams, handle)) return fail(cudaErrorInvalidResourceHandle);
    return sticky() ? fail(sticky()) : cudaSuccess;
}

EMU_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) { return wait_for(handle); }

EMU_API cudaError_t cudaStreamQuery(cudaStream_t handle) { return wait_for(handle); }

EMU_API cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags) {
    Stream *stream = stream_of(handle);
    if (!stream || !flags) return fail(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *flags = stream->flags;
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
    Stream *stream = stream_of(handle);
    if (!stream || !priority) return fail(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *priority = stream->priority;
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id) {
    Stream *stream = stream_of(handle);
    if (!stream || !id) return fail(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *id = stream->id;
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *device) {
    if (!stream_of(handle) || !device) return fail(device ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    *device = 0;
    return cudaSuccess;
}

EMU_API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = greatest_priority;
    return cudaSuccess;
}

// Access policy windows and the like are hints about caches.

EMU_API cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID,
                                           const cudaLaunchAttributeValue *) {
    return stream_of(handle) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

EMU_API cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
    return stream_of(to) && stream_of(from) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

EMU_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void *, size_t, unsigned) {
    return stream_of(handle) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

EMU_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    EMU_REQUIRE_DEVICE();
    if (!function) return fail(cudaErrorInvalidValue);
    // The host may well wait for what it does.
    return submit(stream, cudaGraphNodeTypeHost,
                  [=] {
                      HostFunction on_host;
                      host_hears(current_task()->before);
                      function(data);
                      return cudaSuccess;
                  },
                  {.at_once = true});
}

EMU_API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data,
                                          unsigned flags) {
    if (!callback || flags) return fail(cudaErrorInvalidValue);
    if (Stream *plain = stream_of(stream); plain && plain->capture) {
        plain->capture->spoilt = true;
        return fail(cudaErrorStreamCaptureUnsupported);
    }
    if (Stream *plain = stream_of(stream)) {
        carry_out(*plain);
        host_hears(order_of(*plain));
    }
    RuntimeCall call;
    HostFunction on_host;
    // Unlike a host function it is called after an error too, and told of it.
    callback(stream, sticky(), data);
    return cudaSuccess;
}

EMU_API cudaError_t cudaEventCreate(cudaEvent_t *out) { return create_event(out, cudaEventDefault); }

EMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) { return create_event(out, flags); }

EMU_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    std::lock_guard lock(streams_mutex);
    if (!event_of(handle) || !destroy(events, handle)) return fail(cudaErrorInvalidResourceHandle);
    return sticky() ? fail(sticky()) : cudaSuccess;
}

EMU_API cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t on) {
    EMU_REQUIRE_DEVICE();
    Event *event = event_of(handle);
    Stream *stream = stream_of(on);
    if (!event || !stream) return fail(cudaErrorInvalidResourceHandle);
    if (cudaError_t error = check_legacy(on)) return fail(error);
    event->capture = stream->capture;
    event->behind = stream->behind;
    event->last = stream->last;
    if (stream->capture) return cudaSuccess;
    event->recorded = true;
    enqueue(next_task(*stream, true), [event = shared_event(handle)] {
        note_record(*event);
        return cudaSuccess;
    });
    event->known = stream->known;
    if (event->flags & cudaEventInterprocess) carry_out(*stream);  // api/ipc.cpp says why
    return cudaSuccess;
}

EMU_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t stream, unsigned) {
    return cudaEventRecord(handle, stream);
}

EMU_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
    EMU_REQUIRE_DEVICE();
    Event *event = event_of(handle);
    if (!event) return fail(cudaErrorInvalidResourceHandle);
    if (!event->capture) {
        host_waits(event->known);
        return fail(sticky());
    }
    event->capture->spoilt = true;
    return fail(cudaErrorCapturedEvent);
}

EMU_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) { return cudaEventQuery(handle); }

EMU_API cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    EMU_REQUIRE_DEVICE();
    Event *start = event_of(from), *end = event_of(to);
    if (!ms) return fail(cudaErrorInvalidValue);
    if (!start || !end || !start->recorded || !end->recorded) return fail(cudaErrorInvalidResourceHandle);
    if ((start->flags | end->flags) & cudaEventDisableTiming) return fail(cudaErrorInvalidResourceHandle);
    drain(start->known);
    drain(end->known);
    double seconds = end->at_s - start->at_s;
    auto [first, last] = std::minmax(start->launches, end->launches);
    if (double modelled; modelled_time(first, last, &modelled)) seconds = std::copysign(modelled, seconds);
    *ms = static_cast<float>(seconds * 1e3);
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t on, unsigned flags) {
    EMU_REQUIRE_DEVICE();
    if (flags & ~cudaEventWaitExternal) return fail(cudaErrorInvalidValue);
    Stream *stream = stream_of(handle);
    Event *event = event_of(on);
    if (!stream || !event) return fail(cudaErrorInvalidResourceHandle);
    if (stream->capture && stream->capture != event->capture && (event->capture || event->recorded)) {
        stream->capture->spoilt = true;
        if (event->capture) event->capture->spoilt = true;
        return fail(event->capture ? cudaErrorStreamCaptureMerge : cudaErrorStreamCaptureIsolation);
    }
    if (!stream->capture) stream->capture = event->capture;  // it joins the capture
    for (auto [other, count] : event->behind) stream->behind[other] = std::max(stream->behind[other], count);
    for (Node *node : event->last) {
        if (std::find(stream->last.begin(), stream->last.end(), node) == stream->last.end())
            stream->last.push_back(node);
    }
    if (!event->capture) join(stream->known, event->known);
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaStreamSynchronize, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamQuery, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetFlags, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetPriority, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetId, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetDevice, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamSetAttribute, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamCopyAttributes, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamAttachMemAsync, _ptsz);
EMU_PER_THREAD_STREAM(cudaLaunchHostFunc, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamAddCallback, _ptsz);
EMU_PER_THREAD_STREAM(cudaEventRecord, _ptsz);
EMU_PER_THREAD_STREAM(cudaEventRecordWithFlags, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamWaitEvent, _ptsz);
