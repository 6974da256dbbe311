// The blocks of one cluster, which run on one thread: their barrier, and the bulk copies that are on their way among
// them. A block that was launched without clusters is one of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "abi.h"
#include "exec/bulk_copy.h"

namespace emu {

struct Launch;

class Cluster {
public:
    // The windows of shared memory of a cluster's blocks lie so far apart: a 32-bit address of shared::cluster is the
    // difference of the host address and the own block's window.
    static constexpr uint64_t window_stride = 1 << 18;
    static constexpr uint32_t most_blocks = 16;

    explicit Cluster(std::vector<BlockContext *> blocks) : blocks_(std::move(blocks)) {}

    void start();
    uint32_t size() const { return static_cast<uint32_t>(blocks_.size()); }
    BlockContext &block(uint32_t rank) const { return *blocks_[rank]; }
    // The block whose shared memory has the address, or null.
    BlockContext *owner(uint64_t address) const;

    // barrier.cluster.
    void arrive(uint32_t threads);
    uint32_t phase() const { return phase_; }
    // A thread has ended, or none can go on: the barrier may be complete without it.
    void look();

    // Something has happened that another block may wait for.
    void note_progress() { ++progress_; }
    uint64_t progress() const { return progress_; }

    BulkCopies copies;

private:
    std::vector<BlockContext *> blocks_;
    uint32_t arrived_ = 0, phase_ = 0;
    uint64_t progress_ = 0;
};

}  // namespace emu
