// Memory that kernels ask for while they run: pieces of one allocation.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "report/report.h"

namespace emu {

class Heap {
public:
    // `size` says how many bytes it has, when it is first used.
    Heap(std::string label, std::function<uint64_t()> size) : label_(std::move(label)), size_of_(std::move(size)) {}

    // Returns 0 where there is no room.
    uint64_t take(uint64_t size);
    // False for an address that take() has not given. `by` is remembered until the memory is given anew.
    bool give_back(uint64_t address, const Party *by = nullptr);
    // A piece that was given back, by whom.
    struct Freed {
        uint64_t begin, size;
        Party by;
    };
    std::optional<Freed> freed_at(uint64_t address);
    // Whether there is any such piece.
    bool has_freed() const { return has_freed_.load(std::memory_order_relaxed); }
    // The allocation is gone.
    void forget();

private:
    const std::string label_;
    const std::function<uint64_t()> size_of_;
    std::mutex mutex_;
    uint64_t base_ = 0, size_ = 0;
    std::map<uint64_t, uint64_t> free_, used_;  // address -> bytes
    std::map<uint64_t, Freed> freed_;           // of parts of free_, by address
    std::atomic<bool> has_freed_ = false;       // freed_ is not empty
};

// Of malloc and free in kernels.
Heap &device_heap();
// Of the parameters of launches that kernels make.
Heap &launch_parameters();

}  // namespace emu
