// Counts how often atomics access each sector of global memory, to find the most contended one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace emu {

// Buckets and not a map: what they take does not depend on how many sectors there are, and a few that share one do not
// matter beside one that is hot. The blocks of a launch share them, since thousands may run side by side.
class AtomicTurns {
public:
    void add(uint64_t sector, uint64_t turns) {
        std::call_once(is_made_, [this] { turns_ = std::make_unique<std::atomic<uint64_t>[]>(size); });
        turns_[(sector * 0x9e3779b97f4a7c15u) >> (64 - bits)].fetch_add(turns, std::memory_order_relaxed);
    }

    // When no block runs any more.
    uint64_t most() const {
        uint64_t found = 0;
        for (size_t i = 0; turns_ && i < size; ++i) found = std::max<uint64_t>(found, turns_[i]);
        return found;
    }

private:
    static constexpr uint32_t bits = 14;
    static constexpr size_t size = size_t{1} << bits;

    std::once_flag is_made_;
    std::unique_ptr<std::atomic<uint64_t>[]> turns_;  // none before the first
};

}  // namespace emu
