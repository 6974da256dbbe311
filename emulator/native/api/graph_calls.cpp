// CUDA graphs, made by capture (see api/streams.cpp) or by hand.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "api/errors.h"
#include "api/graph_work.h"
#include "api/graphs.h"

using namespace emu;

namespace {

cudaError_t add(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *dependencies, size_t count,
                cudaGraphNodeType type, Work work) {
    auto graph = graph_of(handle);
    if (!out || !graph || (count && !dependencies)) return fail(cudaErrorInvalidValue);
    *out = handle_of(graph->add(type, std::move(work), nodes_of(dependencies, count)));
    return cudaSuccess;
}

// Gives a node of an executable graph other parameters.
cudaError_t replace(cudaGraphExec_t handle, cudaGraphNode_t node, Work work) {
    auto executable = executable_of(handle);
    if (!executable || !executable->work.count(node_of(node))) return fail(cudaErrorInvalidValue);
    executable->work[node_of(node)] = std::move(work);
    return cudaSuccess;
}

cudaError_t make_executable(cudaGraphExec_t *out, cudaGraph_t handle, unsigned long long flags) {
    EMU_REQUIRE_DEVICE();
    auto graph = graph_of(handle);
    if (!out || !graph) return fail(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    auto executable = instantiate(graph, &error);
    if (!executable) return fail(error);
    executable->is_for_device = (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
    executable->frees_on_launch = (flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0;
    *out = publish(executable);
    return cudaSuccess;
}

}  // namespace

EMU_API cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
    if (!out || flags) return fail(cudaErrorInvalidValue);
    *out = publish(new_graph());
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    return forget(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           size_t count, const cudaKernelNodeParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = kernel_work(params, &work)) return fail(error);
    return add(out, graph, before, count, cudaGraphNodeTypeKernel, std::move(work));
}

EMU_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                             size_t count, void *to, const void *from, size_t size,
                                             cudaMemcpyKind kind) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = flat_copy_work(to, from, size, kind, &work)) return fail(error);
    return add(out, graph, before, count, cudaGraphNodeTypeMemcpy, std::move(work));
}

EMU_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           size_t count, const cudaMemcpy3DParms *params) {
    EMU_REQUIRE_DEVICE();
    if (!params) return fail(cudaErrorInvalidValue);
    Work work;
    if (cudaError_t error = box_copy_work(*params, &work)) return fail(error);
    return add(out, graph, before, count, cudaGraphNodeTypeMemcpy, std::move(work));
}

EMU_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                           size_t count, const cudaMemsetParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = fill_work(params, &work)) return fail(error);
    return add(out, graph, before, count, cudaGraphNodeTypeMemset, std::move(work));
}

EMU_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                         size_t count, const cudaHostNodeParams *params) {
    Work work;
    if (cudaError_t error = host_work(params, &work)) return fail(error);
    return add(out, graph, before, count, cudaGraphNodeTypeHost, std::move(work));
}

EMU_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                          size_t count) {
    return add(out, graph, before, count, cudaGraphNodeTypeEmpty, nullptr);
}

EMU_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before,
                                               size_t count, cudaGraph_t child) {
    auto inner = graph_of(child);
    if (!inner) return fail(cudaErrorInvalidValue);
    inner = clone(*inner);
    Work work;
    if (cudaError_t error = child_work(inner, &work)) return fail(error);
    if (cudaError_t error = add(out, graph, before, count, cudaGraphNodeTypeGraph, std::move(work))) return error;
    node_of(*out)->child = inner;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                             const cudaGraphEdgeData *, size_t count) {
    if (!graph_of(handle)) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) node_of(to[i])->dependencies.push_back(node_of(from[i]));
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    if (!node) return fail(cudaErrorInvalidValue);
    node_of(node)->graph->remove(node_of(node));
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *out, size_t *count) {
    auto graph = graph_of(handle);
    if (!graph) return fail(cudaErrorInvalidValue);
    std::vector<Node *> nodes;
    for (const auto &node : graph->nodes) nodes.push_back(node.get());
    return give_list(nodes, out, count);
}

EMU_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t *out, size_t *count) {
    auto graph = graph_of(handle);
    if (!graph) return fail(cudaErrorInvalidValue);
    std::vector<Node *> nodes;
    for (const auto &node : graph->nodes) {
        if (node->dependencies.empty()) nodes.push_back(node.get());
    }
    return give_list(nodes, out, count);
}

EMU_API cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                      cudaGraphEdgeData *, size_t *count) {
    auto graph = graph_of(handle);
    if (!graph || !count) return fail(cudaErrorInvalidValue);
    size_t edges = 0;
    for (const auto &node : graph->nodes) {
        for (Node *before : node->dependencies) {
            if (from && to && edges < *count) {
                from[edges] = handle_of(before);
                to[edges] = handle_of(node.get());
            }
            ++edges;
        }
    }
    *count = edges;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    if (!node || !type) return fail(cudaErrorInvalidValue);
    *type = node_of(node)->type;
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
    return make_executable(out, graph, flags);
}

EMU_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags) {
    return make_executable(out, graph, flags);
}

EMU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
    return forget(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t from, cudaGraphExecUpdateResultInfo *info) {
    auto executable = executable_of(handle);
    auto graph = graph_of(from);
    if (!executable || !graph) return fail(cudaErrorInvalidValue);
    bool updated = executable->update(*graph);
    if (info) {
        *info = {};
        info->result = updated ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged;
    }
    return updated ? cudaSuccess : fail(cudaErrorGraphExecUpdateFailure);
}

EMU_API cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                     const cudaKernelNodeParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = kernel_work(params, &work)) return fail(error);
    return replace(handle, node, std::move(work));
}

EMU_API cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t handle, cudaGraphNode_t node, void *to,
                                                       const void *from, size_t size, cudaMemcpyKind kind) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = flat_copy_work(to, from, size, kind, &work)) return fail(error);
    return replace(handle, node, std::move(work));
}

EMU_API cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                     const cudaMemsetParams *params) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = fill_work(params, &work)) return fail(error);
    return replace(handle, node, std::move(work));
}

EMU_API cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t handle, cudaGraphNode_t node,
                                                   const cudaHostNodeParams *params) {
    Work work;
    if (cudaError_t error = host_work(params, &work)) return fail(error);
    return replace(handle, node, std::move(work));
}

EMU_API cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t) {
    return executable_of(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
    EMU_REQUIRE_DEVICE();
    auto executable = executable_of(handle);
    if (!executable) return fail(cudaErrorInvalidValue);
    // As it is now: what it is given later is for later launches.
    if (defers_work()) executable = std::make_shared<Executable>(*executable);
    return submit(stream, cudaGraphNodeTypeGraph, [executable] { return executable->launch(); });
}

EMU_PER_THREAD_STREAM(cudaGraphLaunch, _ptsz);
EMU_PER_THREAD_STREAM(cudaGraphUpload, _ptsz);
