// The runtime's calls about streams.

#include <algorithm>

#include "api/errors.h"
#include "api/graphs.h"
#include "api/streams.h"
#include "checks/call_errors.h"

namespace emu {

namespace {

// The least of the priorities that cudaDeviceGetStreamPriorityRange gives.
constexpr int greatest_priority = -5;

cudaError_t create_stream(cudaStream_t *out, unsigned flags, int priority) {
    EMU_REQUIRE_DEVICE();
    if (!out || flags > cudaStreamNonBlocking) return fail(cudaErrorInvalidValue);
    *out = add_stream(flags, std::clamp(priority, greatest_priority, 0));
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
    if (cudaStream_t captured = captured_stream()) return wait_for(captured);
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
    if (!destroy_stream(handle)) return fail(cudaErrorInvalidResourceHandle);
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
