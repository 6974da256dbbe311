// CUDA graphs: nodes of work with their dependencies.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "streams.h"

namespace emu {

struct Node {
    cudaGraphNodeType type;
    Work work;
    std::vector<Node *> dependencies;
};

struct Graph {
    unsigned long long id = 0;
    // In the order in which they were added.
    std::vector<std::unique_ptr<Node>> nodes;
    // The work captured last: what is captured next depends on it. Capture keeps the order of the calls, which is one
    // of the orders that the dependencies between streams allow.
    Node *last_captured = nullptr;

    Node *add(cudaGraphNodeType type, Work work, std::vector<Node *> dependencies);
    // The nodes in an order that respects the dependencies, or empty when they form a cycle.
    std::vector<Node *> ordered() const;
};

std::shared_ptr<Graph> new_graph();
// A handle for a graph that the program owns from now on.
cudaGraph_t publish(std::shared_ptr<Graph> graph);

}  // namespace emu
