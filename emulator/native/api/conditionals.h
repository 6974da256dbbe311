// Conditional nodes of graphs: their bodies run by a value that kernels set.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "api/streams.h"

namespace emu {

struct Graph;

struct Conditional {
    uint64_t handle;
    cudaGraphConditionalNodeType type;
    std::vector<std::shared_ptr<Graph>> bodies;
    std::vector<cudaGraph_t> handles;  // of these, which the program fills in
};

// False for a handle that is none.
bool set_condition(uint64_t handle, uint32_t value);
// A graph begins: conditions with a default value have it.
void begin_conditions(const Graph &graph);
void forget_conditions();

// The node's work, with its bodies as they are now; cudaErrorNotSupported for a body with nodes that no body may have,
// cudaErrorInvalidValue for one whose nodes form a cycle.
cudaError_t conditional_work(const Conditional &conditional, Work *out);

}  // namespace emu
