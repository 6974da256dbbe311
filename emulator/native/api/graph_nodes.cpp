// What can be asked of and done to graphs once they are made: clones, edges, events, nodes with other parameters.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "api/errors.h"
#include "api/graph_work.h"
#include "api/graphs.h"
#include "api/modules.h"

using namespace emu;

namespace {

cudaError_t set_work(cudaGraphNode_t node, cudaGraphNodeType type, cudaError_t error, Work work) {
    if (error) return fail(error);
    if (!node || node_of(node)->type != type) return fail(cudaErrorInvalidValue);
    node_of(node)->work = std::move(work);
    return cudaSuccess;
}

// Executable::run() does what they do.
Work event_work() {
    return [] { return cudaSuccess; };
}

cudaError_t add_event_node(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *before, size_t count,
                           cudaGraphNodeType type, cudaEvent_t event) {
    auto graph = graph_of(handle);
    if (!out || !graph || (count && !before) || !event_of(event)) return fail(cudaErrorInvalidValue);
    Node *node = graph->add(type, event_work(), nodes_of(before, count));
    node->event = event;
    *out = handle_of(node);
    return cudaSuccess;
}

cudaError_t set_event(cudaGraphNode_t node, cudaGraphNodeType type, cudaEvent_t event) {
    if (!event_of(event)) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = set_work(node, type, cudaSuccess, event_work())) return error;
    node_of(node)->event = event;
    return cudaSuccess;
}

cudaError_t get_event(cudaGraphNode_t node, cudaGraphNodeType type, cudaEvent_t *out) {
    if (!node || !out || node_of(node)->type != type) return fail(cudaErrorInvalidValue);
    *out = node_of(node)->event;
    return cudaSuccess;
}

}  // namespace

EMU_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                     const cudaGraphEdgeData *, size_t count, cudaGraphNodeParams *params) {
    if (!params) return fail(cudaErrorInvalidValue);
    switch (params->type) {
    case cudaGraphNodeTypeKernel: {
        const auto &it = params->kernel;
        cudaKernelNodeParams kernel{it.func, it.gridDim, it.blockDim, it.sharedMemBytes, it.kernelParams, it.extra};
        return cudaGraphAddKernelNode(out, graph, before, count, &kernel);
    }
    case cudaGraphNodeTypeMemcpy: return cudaGraphAddMemcpyNode(out, graph, before, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: {
        const auto &it = params->memset;
        cudaMemsetParams memset{it.dst, it.pitch, it.value, it.elementSize, it.width, it.height};
        return cudaGraphAddMemsetNode(out, graph, before, count, &memset);
    }
    case cudaGraphNodeTypeHost: {
        cudaHostNodeParams host{params->host.fn, params->host.userData};
        return cudaGraphAddHostNode(out, graph, before, count, &host);
    }
    case cudaGraphNodeTypeGraph: return cudaGraphAddChildGraphNode(out, graph, before, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(out, graph, before, count);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(out, graph, before, count, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(out, graph, before, count, params->eventWait.event);
    case cudaGraphNodeTypeMemAlloc: {
        auto &it = params->alloc;
        cudaMemAllocNodeParams alloc{it.poolProps, it.accessDescs, it.accessDescCount, it.bytesize, nullptr};
        if (cudaError_t error = cudaGraphAddMemAllocNode(out, graph, before, count, &alloc)) return error;
        it.dptr = alloc.dptr;
        return cudaSuccess;
    }
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(out, graph, before, count, params->free.dptr);
    case cudaGraphNodeTypeConditional: return add_conditional_node(out, graph, before, count, params->conditional);
    default: return unsupported_call("nodes of this type (cudaGraphAddNode)");
    }
}

EMU_API cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t original) {
    auto graph = graph_of(original);
    if (!out || !graph) return fail(cudaErrorInvalidValue);
    *out = publish(clone(*graph));
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original, cudaGraph_t handle) {
    auto graph = graph_of(handle);
    if (!out || !original || !graph) return fail(cudaErrorInvalidValue);
    for (const auto &node : graph->nodes) {
        if (node->original != node_of(original)) continue;
        *out = handle_of(node.get());
        return cudaSuccess;
    }
    return fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *,
                                                 size_t *count) {
    if (!node) return fail(cudaErrorInvalidValue);
    return give_list(node_of(node)->dependencies, out, count);
}

EMU_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out, cudaGraphEdgeData *,
                                                   size_t *count) {
    if (!node) return fail(cudaErrorInvalidValue);
    std::vector<Node *> after;
    for (const auto &other : node_of(node)->graph->nodes) {
        const auto &before = other->dependencies;
        if (std::find(before.begin(), before.end(), node_of(node)) != before.end()) after.push_back(other.get());
    }
    return give_list(after, out, count);
}

EMU_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to, const cudaGraphEdgeData *, size_t count) {
    if (!graph_of(handle) || (count && (!from || !to))) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        auto &before = node_of(to[i])->dependencies;
        auto found = std::find(before.begin(), before.end(), node_of(from[i]));
        if (found == before.end()) return fail(cudaErrorInvalidValue);
        before.erase(found);
    }
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *out) {
    if (!node || !out || !node_of(node)->child) return fail(cudaErrorInvalidValue);
    *out = publish(node_of(node)->child);
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                                size_t count, cudaEvent_t event) {
    return add_event_node(out, graph, before, count, cudaGraphNodeTypeEventRecord, event);
}

EMU_API cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                              size_t count, cudaEvent_t event) {
    return add_event_node(out, graph, before, count, cudaGraphNodeTypeWaitEvent, event);
}

EMU_API cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *out) {
    return get_event(node, cudaGraphNodeTypeEventRecord, out);
}

EMU_API cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *out) {
    return get_event(node, cudaGraphNodeTypeWaitEvent, out);
}

EMU_API cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event(node, cudaGraphNodeTypeEventRecord, event);
}

EMU_API cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    return set_event(node, cudaGraphNodeTypeWaitEvent, event);
}

EMU_API cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params) {
    if (cudaError_t error = kernel_params(node, params)) return fail(error);
    params->func = const_cast<void *>(stub_of(params->func));
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    cudaError_t error = kernel_work(params, &work);
    return set_work(node, cudaGraphNodeTypeKernel, error, std::move(work));
}

EMU_API cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t size,
                                                   cudaMemcpyKind kind) {
    EMU_REQUIRE_DEVICE();
    Work work;
    cudaError_t error = flat_copy_work(to, from, size, kind, &work);
    return set_work(node, cudaGraphNodeTypeMemcpy, error, std::move(work));
}

EMU_API cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    cudaError_t error = fill_work(params, &work);
    return set_work(node, cudaGraphNodeTypeMemset, error, std::move(work));
}

EMU_API cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *params) {
    Work work;
    cudaError_t error = host_work(params, &work);
    return set_work(node, cudaGraphNodeTypeHost, error, std::move(work));
}

EMU_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                         cudaGraph_t child) {
    auto executable = executable_of(handle);
    auto graph = graph_of(child);
    if (!executable || !graph || !executable->work.count(node_of(node))) return fail(cudaErrorInvalidValue);
    Work work;
    if (cudaError_t error = child_work(clone(*graph), &work)) return fail(error);
    executable->work[node_of(node)] = std::move(work);
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned enabled) {
    auto executable = executable_of(handle);
    if (!executable || !executable->work.count(node_of(node))) return fail(cudaErrorInvalidValue);
    if (enabled) {
        executable->disabled.erase(node_of(node));
    } else {
        executable->disabled.insert(node_of(node));
    }
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t handle, cudaGraphNode_t node, unsigned *enabled) {
    auto executable = executable_of(handle);
    if (!executable || !enabled || !executable->work.count(node_of(node))) return fail(cudaErrorInvalidValue);
    *enabled = !executable->disabled.count(node_of(node));
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *out, cudaGraph_t graph,
                                                   cudaGraphInstantiateParams *params) {
    if (!params) return fail(cudaErrorInvalidValue);
    cudaError_t error = cudaGraphInstantiate(out, graph, params->flags);
    params->result_out = error ? cudaGraphInstantiateError : cudaGraphInstantiateSuccess;
    params->errNode_out = nullptr;
    return error;
}

EMU_PER_THREAD_STREAM(cudaGraphInstantiateWithParams, _ptsz);
