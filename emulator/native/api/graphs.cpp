#include "api/graphs.h"

#include <algorithm>
#include <mutex>
#include <set>

#include "api/context.h"
#include "api/errors.h"

namespace emu {

namespace {

std::mutex graphs_mutex;
std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
std::map<cudaGraphExec_t, std::shared_ptr<Executable>> executables;
unsigned long long next_graph_id = 1;

}  // namespace

Node *Graph::add(cudaGraphNodeType type, Work work, std::vector<Node *> dependencies) {
    nodes.push_back(std::make_unique<Node>(Node{type, std::move(work), std::move(dependencies), this}));
    return nodes.back().get();
}

void Graph::remove(Node *node) {
    for (const auto &other : nodes) {
        auto &before = other->dependencies;
        before.erase(std::remove(before.begin(), before.end(), node), before.end());
    }
    auto is_it = [&](const std::unique_ptr<Node> &other) { return other.get() == node; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_it), nodes.end());
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

bool Executable::update(const Graph &from) {
    std::vector<Node *> theirs = from.ordered();
    if (theirs.size() != order.size()) return false;
    for (size_t i = 0; i < order.size(); ++i) {
        if (theirs[i]->type != order[i]->type) return false;
    }
    for (size_t i = 0; i < order.size(); ++i) work[order[i]] = theirs[i]->work;
    return true;
}

cudaError_t Executable::run() const {
    for (const Node *node : order) {
        const Work &step = work.at(node);
        if (!step || disabled.count(node)) continue;
        if (cudaError_t error = step()) return error;
    }
    return cudaSuccess;
}

std::shared_ptr<Graph> new_graph() {
    std::lock_guard lock(graphs_mutex);
    auto graph = std::make_shared<Graph>();
    graph->id = next_graph_id++;
    return graph;
}

std::shared_ptr<Graph> clone(const Graph &graph) {
    auto copy = new_graph();
    std::map<const Node *, Node *> copies;
    for (const auto &node : graph.nodes) {
        Node *made = copy->add(node->type, node->work, node->dependencies);
        made->child = node->child;
        made->event = node->event;
        made->original = node.get();
        copies[node.get()] = made;
    }
    for (const auto &node : copy->nodes) {
        for (Node *&before : node->dependencies) before = copies.at(before);
    }
    return copy;
}

cudaError_t give_list(const std::vector<Node *> &nodes, cudaGraphNode_t *out, size_t *count) {
    if (!count) return fail(cudaErrorInvalidValue);
    if (out) {
        for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? handle_of(nodes[i]) : nullptr;
        *count = std::min(*count, nodes.size());
    } else {
        *count = nodes.size();
    }
    return cudaSuccess;
}

std::shared_ptr<Executable> instantiate(const std::shared_ptr<Graph> &graph) {
    auto executable = std::make_shared<Executable>();
    executable->graph = graph;
    executable->order = graph->ordered();
    if (executable->order.size() != graph->nodes.size()) return nullptr;
    for (Node *node : executable->order) executable->work[node] = node->work;
    return executable;
}

cudaGraph_t publish(std::shared_ptr<Graph> graph) {
    std::lock_guard lock(graphs_mutex);
    auto handle = reinterpret_cast<cudaGraph_t>(graph.get());
    graphs[handle] = std::move(graph);
    return handle;
}

cudaGraphExec_t publish(std::shared_ptr<Executable> executable) {
    std::lock_guard lock(graphs_mutex);
    auto handle = reinterpret_cast<cudaGraphExec_t>(executable.get());
    executables[handle] = std::move(executable);
    return handle;
}

std::shared_ptr<Graph> graph_of(cudaGraph_t handle) {
    std::lock_guard lock(graphs_mutex);
    auto found = graphs.find(handle);
    return found == graphs.end() ? nullptr : found->second;
}

std::shared_ptr<Executable> executable_of(cudaGraphExec_t handle) {
    std::lock_guard lock(graphs_mutex);
    auto found = executables.find(handle);
    return found == executables.end() ? nullptr : found->second;
}

void forget_graphs() {
    std::lock_guard lock(graphs_mutex);
    executables.clear();
    graphs.clear();
}

bool forget(cudaGraph_t handle) {
    std::lock_guard lock(graphs_mutex);
    return graphs.erase(handle) > 0;
}

bool forget(cudaGraphExec_t handle) {
    std::lock_guard lock(graphs_mutex);
    return executables.erase(handle) > 0;
}

}  // namespace emu
