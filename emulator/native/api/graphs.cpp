#include "api/graphs.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "api/conditionals.h"
#include "api/context.h"
#include "api/errors.h"
#include "api/graph_memory.h"
#include "exec/scheduler.h"
#include "report/report.h"

namespace emu {

namespace {

std::mutex graphs_mutex;
std::map<cudaGraph_t, std::shared_ptr<Graph>> graphs;
std::map<cudaGraphExec_t, std::shared_ptr<Executable>> executables;
unsigned long long next_graph_id = 1;

}  // namespace

std::vector<Node *> nodes_of(const cudaGraphNode_t *handles, size_t count) {
    std::vector<Node *> nodes;
    for (size_t i = 0; i < count; ++i) nodes.push_back(node_of(handles[i]));
    return nodes;
}

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
    for (size_t i = 0; i < order.size(); ++i) {
        Work &own = work[order[i]] = theirs[i]->work;
        if (theirs[i]->conditional && conditional_work(*theirs[i]->conditional, &own)) return false;
    }
    return true;
}

namespace {

struct RunningGraph {
    cudaGraphExec_t handle;
    std::deque<std::shared_ptr<const Executable>> behind;
};
thread_local RunningGraph *running = nullptr;

}  // namespace

cudaGraphExec_t running_graph() { return running ? running->handle : nullptr; }

cudaError_t launch_behind(std::shared_ptr<const Executable> executable) {
    if (!running) return executable->launch();
    running->behind.push_back(std::move(executable));
    return cudaSuccess;
}

LoopLimit::LoopLimit() : ends_s_(launch_limit_s() > 0 ? working_s() + launch_limit_s() : 0) {}

cudaError_t LoopLimit::check(const char *what) const {
    if (ends_s_ == 0 || working_s() <= ends_s_) return cudaSuccess;
    report().set_limit("wall");
    poison(cudaErrorLaunchTimeout, std::string(what) + " took longer than one launch may");
    return cudaErrorLaunchTimeout;
}

cudaError_t Executable::launch() const {
    RunningGraph own{handle, {}}, *outer = std::exchange(running, &own);
    LoopLimit limit;
    for (const Node *node : order) {
        if (frees_on_launch && node->memory) node->memory->free_left();
    }
    begin_conditions(*graph);
    cudaError_t error = run();
    while (!error && !own.behind.empty()) {
        auto next = own.behind.front();
        own.behind.pop_front();
        // What it launches behind it comes next.
        auto others = std::exchange(own.behind, {});
        own.handle = next->handle;
        auto task = std::make_shared<Task>(*current_task());
        task->before[task->line] = task->number;
        CurrentTask current(std::move(task));
        begin_conditions(*next->graph);
        error = next->run();
        own.behind.insert(own.behind.end(), others.begin(), others.end());
        if (!error) error = limit.check("a graph, with those that its kernels launched behind it,");
    }
    running = outer;
    return error;
}

cudaError_t Executable::run() const {
    TaskPointer whole = current_task();
    bool is_within_another = whole->graph_run != 0;  // as a part of which it has one place
    uint64_t number = next_graph_run();
    TaskClock before = whole->before;
    std::vector<size_t> left(order.size());
    std::iota(left.begin(), left.end(), 0);
    std::vector<bool> done(order.size());
    while (!left.empty()) {
        size_t place = 0;
        if (defers_work()) {
            std::vector<size_t> ready;
            for (size_t i = 0; i < left.size(); ++i) {
                const auto &needed = dependencies[left[i]];
                if (std::all_of(needed.begin(), needed.end(), [&](size_t at) { return done[at]; })) ready.push_back(i);
            }
            place = ready[draw_next(ready.size())];
        }
        size_t chosen = left[place];
        left.erase(left.begin() + static_cast<long>(place));
        done[chosen] = true;
        auto task = std::make_shared<Task>(*whole);
        if (!is_within_another) {
            task->graph_run = number;
            task->node = chosen;
            task->behind = behind[chosen];
        }
        if (cudaError_t error = run_node(*order[chosen], std::move(task), before)) return error;
    }
    return cudaSuccess;
}

// `before`: what the nodes from now on come after besides. It grows where one waits for an event.
cudaError_t Executable::run_node(const Node &node, std::shared_ptr<Task> task, TaskClock &before) const {
    const Work &step = work.at(&node);
    if (!step || disabled.count(&node)) return cudaSuccess;
    if (Event *event = node.event ? event_of(node.event) : nullptr) {
        if (node.type == cudaGraphNodeTypeWaitEvent) {
            drain(event->known);
            join(before, event->known);
        } else {
            note_record(*event);
            event->known = before;
            event->known[task->line] = task->number;
        }
        return cudaSuccess;
    }
    task->before = before;
    CurrentTask current(std::move(task));
    return step();
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
        made->conditional = node->conditional;
        made->memory = node->memory;
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

std::shared_ptr<Executable> instantiate(const std::shared_ptr<Graph> &graph, cudaError_t *error) {
    *error = cudaErrorInvalidValue;
    auto executable = std::make_shared<Executable>();
    executable->graph = graph;
    executable->order = graph->ordered();
    if (executable->order.size() != graph->nodes.size()) return nullptr;
    std::map<const Node *, size_t> places;
    for (Node *node : executable->order) {
        Work &work = executable->work[node] = node->work;
        if (node->conditional && (*error = conditional_work(*node->conditional, &work))) return nullptr;
        std::vector<size_t> needed;
        auto all = std::make_shared<std::vector<bool>>(places.size());
        for (const Node *before : node->dependencies) {
            size_t at = places.at(before);
            needed.push_back(at);
            (*all)[at] = true;
            const std::vector<bool> &of_that = *executable->behind[at];
            for (size_t i = 0; i < of_that.size(); ++i) {
                if (of_that[i]) (*all)[i] = true;
            }
        }
        executable->dependencies.push_back(std::move(needed));
        executable->behind.push_back(std::move(all));
        places.emplace(node, places.size());
    }
    *error = cudaSuccess;
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
    executable->handle = handle;
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
    forget_conditions();
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
