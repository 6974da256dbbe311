#include "exec/bulk_access.h"

#include <algorithm>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/cluster.h"
#include "exec/scheduler.h"
#include "exec/semantics.h"

namespace emu {

bool may_access(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint64_t size) {
    constexpr uint32_t stretch = 4096;  // less than what lies mapped behind an allocation
    for (uint64_t at = 0; at < size; at = at + bulk_piece == size ? size : std::min(at + stretch, size - bulk_piece)) {
        if (passes(warp, site, address + at)) continue;
        uint64_t all[32] = {};
        all[lane] = address + at;
        check(warp, site, 1u << lane, all);
        if (all[lane] != address + at) return false;
    }
    return true;
}

void tell(WarpContext *warp, uint32_t lane, const BulkAccess &access) {
    for (auto &observer : warp->block->observers) observer->bulk(*warp, lane, access);
}

void tell_read(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t size) {
    for (auto &observer : warp->block->observers) observer->read_async(*warp, site, lane, address, size);
}

void refuse_copy(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, cudaError_t error,
                 const std::string &reason) {
    Fault fault = fault_at({warp, &warp->kernel->sites[site], lane, address});
    warp->block->launch.stop(error, "bad asynchronous copy at " + where(fault) + ": " + reason);
}

uint64_t window_of(WarpContext *warp, uint64_t address) {
    BlockContext *owner = warp->block->cluster().owner(address);
    return owner ? reinterpret_cast<uint64_t>(owner->warp(0).shared) : 0;
}

void copy_to_shared(WarpContext *warp, uint32_t lane, BulkCopy &&copy, uint64_t to, uint64_t mbarrier,
                    const uint32_t *blocks) {
    Cluster &cluster = warp->block->cluster();
    cluster.note_progress();
    uint64_t own = window_of(warp, to), of_mbarrier = window_of(warp, mbarrier);
    if (!own || !of_mbarrier) return;  // it has been reported
    copy.offset = static_cast<uint32_t>(to - own);
    uint32_t store_site = copy.store_site;
    auto issue = [&](BulkCopy &&one) {
        bool is_own = one.window == reinterpret_cast<uint64_t>(warp->shared);
        if (is_own) tell(warp, lane, {store_site, one.window + one.offset, one.size, BulkStage::shared_write_begins});
        if (!is_own) {
            for (auto &observer : cluster.owner(one.window)->observers)
                observer->written_from_outside(one.window + one.offset, one.size);
        }
        cluster.copies.issue_load(std::move(one));
    };
    if (!blocks) {
        copy.window = own;
        copy.mbarrier = mbarrier;
        return issue(std::move(copy));
    }
    for (uint32_t rank = 0; rank < cluster.size(); ++rank) {
        if (!(blocks[lane] >> rank & 1)) continue;
        BulkCopy one = copy;
        one.window = reinterpret_cast<uint64_t>(cluster.block(rank).warp(0).shared);
        one.mbarrier = one.window + (mbarrier - of_mbarrier);
        issue(std::move(one));
    }
}

}  // namespace emu
