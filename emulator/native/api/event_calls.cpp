// The runtime's calls about events.

#include <algorithm>
#include <cmath>

#include "api/errors.h"
#include "api/graphs.h"
#include "api/streams.h"
#include "report/session.h"

namespace emu {

namespace {

cudaError_t create_event(cudaEvent_t *out, unsigned flags) {
    EMU_REQUIRE_DEVICE();
    bool of_processes = flags & cudaEventInterprocess;
    bool possible = flags <= 7 && (!of_processes || flags & cudaEventDisableTiming);
    if (!out || !possible) return fail(cudaErrorInvalidValue);
    *out = add_event(flags);
    return cudaSuccess;
}

}  // namespace

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaEventCreate(cudaEvent_t *out) { return create_event(out, cudaEventDefault); }

EMU_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags) { return create_event(out, flags); }

EMU_API cudaError_t cudaEventDestroy(cudaEvent_t handle) {
    if (!destroy_event(handle)) return fail(cudaErrorInvalidResourceHandle);
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
    record(handle, *stream);
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

EMU_PER_THREAD_STREAM(cudaEventRecord, _ptsz);
EMU_PER_THREAD_STREAM(cudaEventRecordWithFlags, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamWaitEvent, _ptsz);
