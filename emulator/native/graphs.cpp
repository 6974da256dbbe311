#include "graphs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "errors.h"

namespace emu {

namespace {

struct Executable {
    std::shared_ptr<Graph> graph;  // keeps the nodes alive after cudaGraphDestroy
    std::vector<Work> steps;
};

std::mutex mutex;
std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
std::map<cudaGraphExec_t, std::shared_ptr<Executable>> executables;
unsigned long long next_id = 1;

std::shared_ptr<Graph> graph_of(cudaGraph_t handle) {
    std::lock_guard lock(mutex);
    auto found = graphs.find(handle);
    return found == graphs.end() ? nullptr : found->second;
}

std::shared_ptr<Executable> executable_of(cudaGraphExec_t handle) {
    std::lock_guard lock(mutex);
    auto found = executables.find(handle);
    return found == executables.end() ? nullptr : found->second;
}

cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t handle) {
    EMU_REQUIRE_DEVICE();
    auto graph = graph_of(handle);
    if (!out || !graph) return fail(cudaErrorInvalidValue);
    auto executable = std::make_shared<Executable>();
    executable->graph = graph;
    for (Node *node : graph->ordered()) executable->steps.push_back(node->work);
    if (executable->steps.size() != graph->nodes.size()) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(mutex);
    *out = reinterpret_cast<cudaGraphExec_t>(executable.get());
    executables[*out] = executable;
    return cudaSuccess;
}

}  // namespace

Node *Graph::add(cudaGraphNodeType type, Work work, std::vector<Node *> dependencies) {
    nodes.push_back(std::make_unique<Node>(Node{type, std::move(work), std::move(dependencies)}));
    return nodes.back().get();
}

std::vector<Node *> Graph::ordered() const {
    std::vector<Node *> order;
    std::set<const Node *> done;
    for (bool progress = true; progress && order.size() < nodes.size();) {
        progress = false;
        for (const auto &node : nodes) {
            if (done.count(node.get())) continue;
            bool ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                     [&](const Node *before) { return done.count(before) > 0; });
            if (!ready) continue;
            order.push_back(node.get());
            done.insert(node.get());
            progress = true;
        }
    }
    return order;
}

std::shared_ptr<Graph> new_graph() {
    std::lock_guard lock(mutex);
    auto graph = std::make_shared<Graph>();
    graph->id = next_id++;
    return graph;
}

cudaGraph_t publish(std::shared_ptr<Graph> graph) {
    std::lock_guard lock(mutex);
    auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
    graphs[handle] = std::move(graph);
    return handle;
}

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaGraphCreate(cudaGraph_t *out, unsigned flags) {
    if (!out || flags) return fail(cudaErrorInvalidValue);
    *out = publish(new_graph());
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
    std::lock_guard lock(mutex);
    return graphs.erase(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
    return instantiate(out, graph);
}

EMU_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long) {
    return instantiate(out, graph);
}

EMU_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
    std::lock_guard lock(mutex);
    return executables.erase(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t) {
    return executable_of(handle) ? cudaSuccess : fail(cudaErrorInvalidValue);
}

EMU_API cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
    EMU_REQUIRE_DEVICE();
    auto executable = executable_of(handle);
    if (!executable) return fail(cudaErrorInvalidValue);
    return submit(stream, cudaGraphNodeTypeGraph, [executable] {
        for (const Work &step : executable->steps) {
            if (cudaError_t error = step()) return error;
        }
        return cudaSuccess;
    });
}

EMU_API cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *out, size_t *count) {
    auto graph = graph_of(handle);
    if (!graph || !count) return fail(cudaErrorInvalidValue);
    if (out) {
        size_t given = std::min(*count, graph->nodes.size());
        for (size_t i = 0; i < *count; ++i) {
            out[i] = i < given ? reinterpret_cast<cudaGraphNode_t>(graph->nodes[i].get()) : nullptr;
        }
        *count = given;
    } else {
        *count = graph->nodes.size();
    }
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
    if (!node || !type) return fail(cudaErrorInvalidValue);
    *type = reinterpret_cast<Node *>(node)->type;
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaGraphLaunch, _ptsz);
EMU_PER_THREAD_STREAM(cudaGraphUpload, _ptsz);
