// Capture of streams into graphs.

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>
#include <vector>

#include "api/errors.h"
#include "api/graphs.h"
#include "api/streams.h"

using namespace emu;

namespace {

// Into `graph`, behind those of its nodes.
cudaError_t begin_capture(cudaStream_t handle, cudaStreamCaptureMode mode, std::shared_ptr<Graph> graph,
                          std::vector<Node *> behind) {
    EMU_REQUIRE_DEVICE();
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) return fail(cudaErrorInvalidValue);
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    bool is_default = !handle || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
    if (is_default) return fail(cudaErrorStreamCaptureUnsupported);
    if (stream->capture) return fail(cudaErrorIllegalState);
    stream->capture = std::move(graph);
    stream->last = std::move(behind);
    stream->capture_origin = true;
    stream->capture_mode = mode;
    stream->capture_thread = std::this_thread::get_id();
    return cudaSuccess;
}

}  // namespace

EMU_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    return begin_capture(stream, mode, new_graph(), {});
}

EMU_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t handle,
                                                  const cudaGraphNode_t *before, const cudaGraphEdgeData *,
                                                  size_t count, cudaStreamCaptureMode mode) {
    auto graph = graph_of(handle);
    if (!graph || (count && !before)) return fail(cudaErrorInvalidValue);
    return begin_capture(stream, mode, graph, nodes_of(before, count));
}

// Nodes that the program adds by itself to the graph that is being captured: what is captured next comes after them.
EMU_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle, cudaGraphNode_t *before,
                                                        const cudaGraphEdgeData *, size_t count, unsigned flags) {
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    if (!stream->capture) return fail(cudaErrorIllegalState);
    if ((count && !before) || flags > cudaStreamSetCaptureDependencies) return fail(cudaErrorInvalidValue);
    std::vector<Node *> nodes = nodes_of(before, count);
    if (flags == cudaStreamSetCaptureDependencies) stream->last.clear();
    stream->last.insert(stream->last.end(), nodes.begin(), nodes.end());
    return cudaSuccess;
}

EMU_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *out) {
    EMU_REQUIRE_DEVICE();
    Stream *stream = stream_of(handle);
    if (!stream) return fail(cudaErrorInvalidResourceHandle);
    // A program that captures into a graph of its own need not ask for it.
    bool is_known = stream->capture && graph_of(reinterpret_cast<cudaGraph_t>(stream->capture.get()));
    if (!out && !is_known) return fail(cudaErrorInvalidValue);
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
        if (out) *out = nullptr;
        return fail(graph->spoilt ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnjoined);
    }
    cudaGraph_t captured = publish(graph);
    if (out) *out = captured;
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
                                             unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **nodes,
                                             const cudaGraphEdgeData **edges, size_t *count) {
    if (cudaError_t error = cudaStreamIsCapturing(handle, status)) return error;
    Stream *stream = stream_of(handle);
    if (!stream->capture) return cudaSuccess;
    if (id) *id = stream->capture->id;
    if (graph) *graph = publish(stream->capture);
    static thread_local std::vector<cudaGraphNode_t> last;  // until the next call
    last.clear();
    for (Node *node : stream->last) last.push_back(handle_of(node));
    if (nodes) *nodes = last.data();
    if (edges) *edges = nullptr;
    if (count) *count = last.size();
    return cudaSuccess;
}

EMU_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
    static thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    if (!mode) return fail(cudaErrorInvalidValue);
    std::swap(*mode, current);
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaStreamBeginCapture, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamBeginCaptureToGraph, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamEndCapture, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamIsCapturing, _ptsz);
EMU_PER_THREAD_STREAM(cudaStreamGetCaptureInfo, _ptsz);
