#include "api/conditionals.h"

#include <map>
#include <mutex>
#include <utility>

#include "api/errors.h"
#include "api/graphs.h"
#include "checks/call_errors.h"

namespace emu {

namespace {

struct Condition {
    const Graph *graph;
    uint32_t value, initial;
    bool has_default;
    bool is_used = false;  // by a node
};

std::mutex conditions_mutex;
std::map<uint64_t, Condition> conditions;
uint64_t next_condition = 1;

uint32_t value_of(uint64_t handle) {
    std::lock_guard lock(conditions_mutex);
    return conditions.at(handle).value;
}

cudaError_t run_loop(const Executable &body, uint64_t handle) {
    LoopLimit limit;
    while (value_of(handle)) {
        if (cudaError_t error = body.run()) return error;
        if (cudaError_t error = limit.check("a WHILE node of a graph")) return error;
    }
    return cudaSuccess;
}

bool is_allowed(cudaGraphNodeType type) {
    return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeEmpty || type == cudaGraphNodeTypeGraph ||
           type == cudaGraphNodeTypeMemset || type == cudaGraphNodeTypeMemcpy || type == cudaGraphNodeTypeConditional;
}

}  // namespace

bool set_condition(uint64_t handle, uint32_t value) {
    std::lock_guard lock(conditions_mutex);
    auto found = conditions.find(handle);
    if (found == conditions.end()) return false;
    found->second.value = value;
    return true;
}

void begin_conditions(const Graph &graph) {
    {
        std::lock_guard lock(conditions_mutex);
        for (auto &[handle, condition] : conditions) {
            if (condition.graph == &graph && condition.has_default) condition.value = condition.initial;
        }
    }
    for (const auto &node : graph.nodes) {
        if (node->child) begin_conditions(*node->child);
        if (!node->conditional) continue;
        for (const auto &body : node->conditional->bodies) begin_conditions(*body);
    }
}

void forget_conditions() {
    std::lock_guard lock(conditions_mutex);
    conditions.clear();
}

cudaError_t conditional_work(const Conditional &conditional, Work *out) {
    std::vector<std::shared_ptr<Executable>> bodies;
    for (const auto &body : conditional.bodies) {
        for (const auto &node : body->nodes) {
            if (is_allowed(node->type)) continue;
            explain("bad graph",
                    "the body of a conditional node has a node of another kind than kernels, copies, fills, child "
                    "graphs and conditional nodes");
            return cudaErrorNotSupported;
        }
        cudaError_t error = cudaSuccess;
        bodies.push_back(instantiate(body, &error));
        if (!bodies.back()) return error;
    }
    *out = [handle = conditional.handle, type = conditional.type, bodies = std::move(bodies)]() -> cudaError_t {
        if (type == cudaGraphCondTypeWhile) return run_loop(*bodies[0], handle);
        uint32_t value = value_of(handle);
        size_t chosen = type == cudaGraphCondTypeIf ? (value ? 0 : 1) : value;
        return chosen < bodies.size() ? bodies[chosen]->run() : cudaSuccess;
    };
    return cudaSuccess;
}

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *out, cudaGraph_t handle,
                                                     unsigned value, unsigned flags) {
    auto graph = graph_of(handle);
    if (!out || !graph || flags > cudaGraphCondAssignDefault) return fail(cudaErrorInvalidValue);
    std::lock_guard lock(conditions_mutex);
    *out = next_condition++;
    conditions[*out] = {graph.get(), 0, value, (flags & cudaGraphCondAssignDefault) != 0};
    return cudaSuccess;
}

namespace emu {

cudaError_t add_conditional_node(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *before, size_t count,
                                 cudaConditionalNodeParams &params) {
    auto graph = graph_of(handle);
    constexpr unsigned most_bodies = 1 << 16;
    bool fits = params.type == cudaGraphCondTypeWhile ? params.size == 1
                : params.type == cudaGraphCondTypeIf
                    ? params.size == 1 || params.size == 2
                    : params.type == cudaGraphCondTypeSwitch && params.size >= 1 && params.size <= most_bodies;
    if (!out || !graph || (count && !before) || !fits) return fail(cudaErrorInvalidValue);
    {
        std::lock_guard lock(conditions_mutex);
        auto found = conditions.find(params.handle);
        if (found == conditions.end() || found->second.is_used) {
            explain("bad graph",
                    found == conditions.end()
                        ? "a conditional node with a handle that cudaGraphConditionalHandleCreate never gave"
                        : "two conditional nodes with one handle");
            return fail(cudaErrorInvalidValue);
        }
        found->second.is_used = true;
    }
    auto conditional = std::make_shared<Conditional>(Conditional{params.handle, params.type, {}, {}});
    for (unsigned i = 0; i < params.size; ++i) {
        conditional->bodies.push_back(new_graph());
        conditional->handles.push_back(publish(conditional->bodies.back()));
    }
    params.phGraph_out = conditional->handles.data();
    std::vector<Node *> after;
    for (size_t i = 0; i < count; ++i) after.push_back(node_of(before[i]));
    Node *node = graph->add(cudaGraphNodeTypeConditional, nullptr, std::move(after));
    node->conditional = std::move(conditional);
    *out = handle_of(node);
    return cudaSuccess;
}

}  // namespace emu
