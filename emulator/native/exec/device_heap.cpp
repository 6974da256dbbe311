// malloc and free of kernels: one heap for all, inside of one allocation.

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/context.h"
#include "api/limits.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/device_heap.h"
#include "exec/memory.h"

namespace emu {

namespace {

constexpr uint64_t granule = 16;
// Bytes of parameters, on the average of all launches that wait at a time.
constexpr uint64_t parameter_bytes_of_a_launch = 4096;
constexpr size_t most_freed = 1 << 16;

}  // namespace

uint64_t Heap::take(uint64_t size) {
    std::lock_guard lock(mutex_);
    if (!base_) {
        size_ = size_of_();
        base_ = memory().allocate(size_, 256, MemoryKind::heap, label_, "");
        if (!base_) return 0;
        free_[base_] = size_;
    }
    if (size > size_) return 0;
    size = (std::max<uint64_t>(size, 1) + granule - 1) / granule * granule;
    for (auto it = free_.begin(); it != free_.end(); ++it) {
        if (it->second < size) continue;
        auto [address, room] = *it;
        free_.erase(it);
        if (room > size) free_[address + size] = room - size;
        used_[address] = size;
        auto freed = freed_.upper_bound(address);
        if (freed != freed_.begin() && std::prev(freed)->second.begin + std::prev(freed)->second.size > address)
            --freed;
        while (freed != freed_.end() && freed->first < address + size) freed = freed_.erase(freed);
        has_freed_ = !freed_.empty();
        return address;
    }
    return 0;
}

bool Heap::give_back(uint64_t address, const Party *by) {
    std::lock_guard lock(mutex_);
    auto found = used_.find(address);
    if (found == used_.end()) return false;
    uint64_t size = found->second;
    used_.erase(found);
    if (by && freed_.size() < most_freed) {
        freed_[address] = {address, size, *by};
        has_freed_ = true;
    }
    auto next = free_.lower_bound(address);
    if (next != free_.end() && next->first == address + size) {
        size += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == address) {
        std::prev(next)->second += size;
    } else {
        free_[address] = size;
    }
    return true;
}

std::optional<Heap::Freed> Heap::freed_at(uint64_t address) {
    std::lock_guard lock(mutex_);
    auto next = freed_.upper_bound(address);
    if (next == freed_.begin()) return {};
    const Freed &last = std::prev(next)->second;
    return address < last.begin + last.size ? std::optional(last) : std::nullopt;
}

void Heap::forget() {
    std::lock_guard lock(mutex_);
    base_ = 0;
    free_.clear();
    used_.clear();
    freed_.clear();
    has_freed_ = false;
}

Heap &device_heap() {
    static Heap *instance = new Heap("the device heap", [] { return device_limit(cudaLimitMallocHeapSize); });
    return *instance;
}

Heap &launch_parameters() {
    static Heap *instance = new Heap("parameters of launches from kernels", [] {
        return parameter_bytes_of_a_launch *
               std::max<uint64_t>(16, device_limit(cudaLimitDevRuntimePendingLaunchCount));
    });
    return *instance;
}

void forget_device_heap() {
    device_heap().forget();
    launch_parameters().forget();
}

}  // namespace emu

using namespace emu;

extern "C" {

__attribute__((visibility("default"))) void emu_device_malloc(WarpContext *warp, uint32_t site, uint32_t mask,
                                                              const uint64_t size[32], uint64_t result[32]) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        result[lane] = device_heap().take(size[lane]);
        if (!result[lane]) {
            uint32_t none = 0;
            warp->block->launch.refused_malloc.compare_exchange_strong(none, site + 1);
            continue;
        }
        for (auto &observer : warp->block->observers) observer->allocate(result[lane], size[lane]);
    }
}

__attribute__((visibility("default"))) void emu_device_free(WarpContext *warp, uint32_t site, uint32_t mask,
                                                            const uint64_t address[32]) {
    bool is_checked = !warp->block->observers.empty();
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1) || !address[lane]) continue;
        Party by;
        if (is_checked) by = party_at({warp, &warp->kernel->sites[site], lane, address[lane]});
        if (!device_heap().give_back(address[lane], is_checked ? &by : nullptr)) {
            Fault fault = fault_at({warp, &warp->kernel->sites[site], lane, address[lane]});
            warp->block->launch.doom(cudaErrorIllegalAddress,
                                     "invalid free() at " + where(fault) +
                                         ": malloc() in a kernel never gave this pointer, or it has been freed since");
        }
    }
}
}
