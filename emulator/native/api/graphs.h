// CUDA graphs: nodes of work with their dependencies, and executable copies of them.
#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "api/streams.h"

namespace emu {

struct Conditional;
struct Graph;
class GraphMemory;

struct Node {
    cudaGraphNodeType type;
    Work work;
    std::vector<Node *> dependencies;
    Graph *graph;
    std::shared_ptr<Graph> child = nullptr;  // of a child graph's node
    cudaEvent_t event = nullptr;             // that it records or waits for
    const Node *original = nullptr;          // of which it is a clone
    std::shared_ptr<const Conditional> conditional = nullptr;
    std::shared_ptr<GraphMemory> memory = nullptr;  // that it allocates
};

inline Node *node_of(cudaGraphNode_t handle) { return reinterpret_cast<Node *>(handle); }
std::vector<Node *> nodes_of(const cudaGraphNode_t *handles, size_t count);
inline cudaGraphNode_t handle_of(Node *node) { return reinterpret_cast<cudaGraphNode_t>(node); }

struct Graph {
    unsigned long long id = 0;
    bool spoilt = false;  // its capture broke a rule, and cannot end well
    // In the order in which they were added.
    std::vector<std::unique_ptr<Node>> nodes;
    Node *add(cudaGraphNodeType type, Work work, std::vector<Node *> dependencies);
    void remove(Node *node);
    // The nodes in an order that respects the dependencies; some are missing when they form a cycle.
    std::vector<Node *> ordered() const;
};

// What cudaGraphInstantiate makes: later changes of the graph do not reach it.
struct Executable {
    std::shared_ptr<Graph> graph;  // keeps the nodes alive after cudaGraphDestroy
    std::vector<Node *> order;
    // Of each in that order, by their places there: what it waits for; and all that it comes after.
    std::vector<std::vector<size_t>> dependencies;
    std::vector<std::shared_ptr<const std::vector<bool>>> behind;
    std::map<const Node *, Work> work;
    std::set<const Node *> disabled;
    bool is_for_device = false;    // kernels may launch it
    bool frees_on_launch = false;  // what the launch before left
    cudaGraphExec_t handle = nullptr;

    // Takes the work of `from`. False when it has not the same nodes.
    bool update(const Graph &from);
    // The whole graph, then those that its kernels launch behind it.
    cudaError_t launch() const;
    // As the current task, which its nodes are parts of: in an order that is drawn where work is deferred.
    cudaError_t run() const;

private:
    cudaError_t run_node(const Node &node, std::shared_ptr<Task> task, TaskClock &before) const;
};

// The graph whose work this thread carries out; null outside of any.
cudaGraphExec_t running_graph();
// Launches it when the running graph has ended; at once outside of any.
cudaError_t launch_behind(std::shared_ptr<const Executable> executable);

// Says when a loop without the host has taken longer than one launch may, and breaks the context.
class LoopLimit {
public:
    LoopLimit();
    // `what` took so long.
    cudaError_t check(const char *what) const;

private:
    double ends_s_;  // by working_s(); 0: never
};

std::shared_ptr<Graph> new_graph();
std::shared_ptr<Graph> clone(const Graph &graph);
// Gives `nodes` to a program that asks for a list, or for its length. Notes the error.
cudaError_t give_list(const std::vector<Node *> &nodes, cudaGraphNode_t *out, size_t *count);
// Null, with the error, when the nodes form a cycle, or a conditional node has a body that cannot be run.
std::shared_ptr<Executable> instantiate(const std::shared_ptr<Graph> &graph, cudaError_t *error);

cudaError_t add_conditional_node(cudaGraphNode_t *out, cudaGraph_t graph, const cudaGraphNode_t *before, size_t count,
                                 cudaConditionalNodeParams &params);

// Handles that programs hold.
cudaGraph_t publish(std::shared_ptr<Graph> graph);
cudaGraphExec_t publish(std::shared_ptr<Executable> executable);
std::shared_ptr<Graph> graph_of(cudaGraph_t handle);
std::shared_ptr<Executable> executable_of(cudaGraphExec_t handle);
bool forget(cudaGraph_t handle);
bool forget(cudaGraphExec_t handle);

}  // namespace emu
