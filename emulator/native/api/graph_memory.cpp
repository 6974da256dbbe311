#include "api/graph_memory.h"

#include "api/allocations.h"
#include "api/errors.h"
#include "api/graphs.h"
#include "api/pools.h"
#include "checks/call_errors.h"
#include "exec/memory.h"

namespace emu {

namespace {

constexpr unsigned kinds = kind_bit(MemoryKind::device);

}  // namespace

GraphMemory::~GraphMemory() {
    if (is_new_ && is_left()) release_now(reinterpret_cast<void *>(address_), kinds, cudaSuccess);
}

bool GraphMemory::is_left() const {
    auto found = memory().find(address_);
    return found && found->begin == address_;
}

void GraphMemory::free_left() {
    if (!is_new_ && is_left()) release_now(reinterpret_cast<void *>(address_), kinds, cudaSuccess);
}

cudaError_t GraphMemory::begin() {
    if (!is_new_) {
        if (is_left()) {
            explain("", "the graph was launched again before " + memory().find(address_)->label + " was freed");
            return fail(cudaErrorInvalidValue);
        }
        void *pointer = nullptr;
        if (cudaError_t error = allocate(&pointer, size_, MemoryKind::device, "cudaGraphLaunch", 0, address_)) {
            return error;
        }
    }
    is_new_ = false;
    put_in_pool(graph_pool(), address_, size_);
    return cudaSuccess;
}

cudaError_t new_graph_memory(void **out, size_t size, const char *call, std::shared_ptr<GraphMemory> *memory) {
    if (!size) return fail(cudaErrorInvalidValue);
    if (cudaError_t error = allocate(out, size, MemoryKind::device, call)) return error;
    *memory = std::make_shared<GraphMemory>(reinterpret_cast<uint64_t>(*out), size);
    return cudaSuccess;
}

Work begin_work(std::shared_ptr<GraphMemory> memory) {
    return [memory] { return memory->begin(); };
}

Work free_work(void *pointer) {
    return [pointer] { return release_now(pointer, kinds, cudaErrorInvalidValue); };
}

}  // namespace emu

using namespace emu;

EMU_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *before,
                                             size_t count, cudaMemAllocNodeParams *params) {
    EMU_REQUIRE_DEVICE();
    auto graph = graph_of(handle);
    if (!out || !graph || !params || (count && !before)) return fail(cudaErrorInvalidValue);
    const auto &location = params->poolProps.location;
    bool is_elsewhere = location.type != cudaMemLocationTypeDevice || location.id;
    if (is_elsewhere || params->poolProps.allocType != cudaMemAllocationTypePinned) return fail(cudaErrorInvalidValue);
    std::shared_ptr<GraphMemory> memory;
    if (cudaError_t error = new_graph_memory(&params->dptr, params->bytesize, "cudaGraphAddMemAllocNode", &memory)) {
        return error;
    }
    Node *node = graph->add(cudaGraphNodeTypeMemAlloc, begin_work(memory), nodes_of(before, count));
    node->memory = memory;
    *out = handle_of(node);
    return cudaSuccess;
}

EMU_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *out, cudaGraph_t handle, const cudaGraphNode_t *before,
                                            size_t count, void *pointer) {
    EMU_REQUIRE_DEVICE();
    auto graph = graph_of(handle);
    if (!out || !graph || !pointer || (count && !before)) return fail(cudaErrorInvalidValue);
    *out = handle_of(graph->add(cudaGraphNodeTypeMemFree, free_work(pointer), nodes_of(before, count)));
    return cudaSuccess;
}

namespace {

// What is reserved is what is used: nothing is kept for later launches.
cudaMemPoolAttr of_pool(cudaGraphMemAttributeType which) {
    switch (which) {
    case cudaGraphMemAttrUsedMemCurrent: return cudaMemPoolAttrUsedMemCurrent;
    case cudaGraphMemAttrUsedMemHigh: return cudaMemPoolAttrUsedMemHigh;
    case cudaGraphMemAttrReservedMemCurrent: return cudaMemPoolAttrReservedMemCurrent;
    case cudaGraphMemAttrReservedMemHigh: return cudaMemPoolAttrReservedMemHigh;
    default: return static_cast<cudaMemPoolAttr>(0);
    }
}

}  // namespace

EMU_API cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType which, void *value) {
    EMU_REQUIRE_DEVICE();
    if (device) return fail(cudaErrorInvalidDevice);
    return cudaMemPoolGetAttribute(graph_pool(), of_pool(which), value);
}

EMU_API cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType which, void *value) {
    EMU_REQUIRE_DEVICE();
    if (device) return fail(cudaErrorInvalidDevice);
    return cudaMemPoolSetAttribute(graph_pool(), of_pool(which), value);
}

EMU_API cudaError_t cudaDeviceGraphMemTrim(int device) {
    EMU_REQUIRE_DEVICE();
    return device ? fail(cudaErrorInvalidDevice) : cudaSuccess;
}
