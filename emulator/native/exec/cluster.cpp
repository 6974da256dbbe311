#include "exec/cluster.h"

#include "exec/block.h"
#include "exec/semantics.h"

namespace emu {

void Cluster::start() {
    copies.clear();
    arrived_ = phase_ = 0;
}

BlockContext *Cluster::owner(uint64_t address) const {
    for (BlockContext *block : blocks_) {
        const WarpContext &warp = block->warp(0);
        if (address - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes) return block;
    }
    return nullptr;
}

void Cluster::arrive(uint32_t threads) {
    arrived_ += threads;
    look();
}

void Cluster::look() {
    if (!arrived_) return;
    uint32_t live = 0;
    for (const BlockContext *block : blocks_) live += block->live_threads();
    if (arrived_ < live) return;
    arrived_ = 0;
    ++phase_;
    note_progress();
}

}  // namespace emu

void emu_cluster_arrive(WarpContext *warp, uint32_t lanes) {
    if (!lanes) return;
    BlockContext &block = *warp->block;
    block.note_cluster_arrival(*warp, lanes);
    for (auto &observer : block.observers) observer->arrive(*warp, BlockContext::cluster_barrier, lanes, false);
    block.cluster().arrive(static_cast<uint32_t>(__builtin_popcount(lanes)));
}

void emu_cluster_wait(WarpContext *warp, uint32_t lanes) {
    if (!lanes) return;
    BlockContext &block = *warp->block;
    for (auto &observer : block.observers) observer->arrive(*warp, BlockContext::cluster_barrier, lanes, true);
    block.wait_at(*warp, BlockContext::cluster_barrier, lanes);
}

uint32_t emu_cluster_register(const WarpContext *warp, uint32_t which) {
    const BlockContext &block = *warp->block;
    const uint32_t *shape = block.launch.cluster;
    uint32_t axis = which % 3;
    switch (which / 3) {
    case 0: return warp->ctaid[axis] % shape[axis];
    case 1: return shape[axis];
    case 2: return warp->ctaid[axis] / shape[axis];
    case 3: return (warp->nctaid[axis] + shape[axis] - 1) / shape[axis];
    default: break;
    }
    if (which == 12) return block.rank();
    return which == 13 ? block.launch.cluster_size() : block.launch.explicit_cluster;
}

uint32_t emu_cluster_lanes(const WarpContext *warp, uint32_t lanes, const uint64_t *address) {
    uint32_t found = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = __builtin_ctz(left);
        found |= uint32_t{warp->block->cluster().owner(address[l]) != nullptr} << l;
    }
    return found;
}
