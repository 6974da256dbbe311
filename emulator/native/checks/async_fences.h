// Shared memory that threads write and asynchronous copies or wgmma then read: these read by a proxy of their own.
//
// A fence.proxy.async belongs between the two, behind the write in its thread, or before the read behind the barrier.
// Any of the block's threads counts, so that a fence which comes too early for others is not missed.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

// Of the block that runs in one context.
class AsyncFences {
public:
    explicit AsyncFences(uint32_t shared_bytes) : words_((shared_bytes + 3) / 4) {}
    void start() { ++fences_; }
    void fence() { ++fences_; }
    // A thread writes there; copies from elsewhere, by the proxy itself, do not count.
    void write(uint64_t offset, uint32_t size, bool by_proxy) {
        for (uint64_t word = offset / 4; word < words_.size() && 4 * word < offset + size; ++word) {
            words_[word] = by_proxy ? 0 : fences_;
        }
    }
    // The proxy reads there: calls `miss(offset)` for the first word that threads have written since the last fence.
    template <class Miss>
    void read(uint64_t offset, uint32_t size, Miss miss) const {
        for (uint64_t word = offset / 4; word < words_.size() && 4 * word < offset + size; ++word) {
            if (words_[word] == fences_) return miss(4 * word);
        }
    }

private:
    std::vector<uint64_t> words_;  // of each how many fences came before its last write; 0: none has written there
    uint64_t fences_ = 0;
};

}  // namespace emu
