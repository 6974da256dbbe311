// Memory that graphs allocate and free themselves, at an address that stays the same from launch to launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "api/stream_queue.h"

namespace emu {

// What one node allocates. Until its first launch the memory is there already, so that copies to and from it can be
// checked when their nodes are made.
class GraphMemory {
public:
    GraphMemory(uint64_t address, uint64_t size) : address_(address), size_(size) {}
    ~GraphMemory();
    GraphMemory(const GraphMemory &) = delete;
    GraphMemory &operator=(const GraphMemory &) = delete;

    // The node's work. An error when an earlier launch's memory has not been freed.
    cudaError_t begin();
    // Frees what an earlier launch left, if anything.
    void free_left();

private:
    uint64_t address_, size_;
    bool is_new_ = true;  // nothing has launched it
    bool is_left() const;
};

// Notes the error, if any; `call` is what asks for the memory.
cudaError_t new_graph_memory(void **out, size_t size, const char *call, std::shared_ptr<GraphMemory> *memory);
Work begin_work(std::shared_ptr<GraphMemory> memory);
Work free_work(void *pointer);

}  // namespace emu
