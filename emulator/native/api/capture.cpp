// Capture of streams into graphs.

#include <cuda_runtime_api.h>

#include <utility>

#include "api/errors.h"
#include "api/graphs.h"
#include "api/streams.h"

using namespace emu;

EMU_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    EMU_REQUIRE_DEVICE();
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    bool is_default = !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
    if (is_default) return fail(cudaErrorStreamCaptureUnsupported);
    if (stream->capture) return fail(cudaErrorIllegalState);
    stream->capture = new_graph();
    stream->capture_origin = true;
    stream->capture_mode = mode;
    stream->capture_thread = std::this_thread::get_id();
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *out) {
    EMU_REQUIRE_DEVICE();
    Stream *stream = stream_of(handle);
    if (!stream || !out) return fail(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    if (!stream->capture) return fail(cudaErrorIllegalState);
    if (!stream->capture_origin) {
        stream->capture->spoilt = true;
        return fail(cudaErrorStreamCaptureUnmatched);
    }
    bool is_of_others = stream->capture_thread != std::this_thread::get_id();
    std::shared_ptr<Graph> graph = stream->capture;
    if (is_of_others && stream->capture_mode != cudaStreamCaptureModeRelaxed) {
        end_capture(graph);  // a GPU's has ended, too
        return fail(cudaErrorStreamCaptureWrongThread);
    }
    bool is_unjoined = has_unjoined_work(graph, *stream);
    end_capture(graph);
    if (graph->spoilt || is_unjoined) {
        *out = nullptr;
        return fail(graph->spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
    }
    *out = publish(graph);
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
    Stream *stream = stream_of(handle);
    if (!stream || !status) return fail(stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    *status = !stream->capture          ? cudaStreamCaptureStatusNone
              : stream->capture->spoilt ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus *status,
                                             unsigned long long *id, cudaGraph_t *, const cudaGraphNode_t **,
                                             const cudaGraphEdgeData **, size_t *) {
    if (cudaError_t error = cudaStreamIsCapturing(handle, status)) return error;
    Stream *stream = stream_of(handle);
    if (id && stream->capture) *id = stream->capture->id;
    return cudaSuccess;
}

EMU_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return fail(cudaErrorInvalidValue);
    std::swap(*mode, current);
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaStreamBeginCapture, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamEndCapture, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamIsCapturing, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetCaptureInfo, _ptsz);
