#include "exec/bulk_copy.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "exec/block.h"
#include "exec/bulk_access.h"
#include "exec/cluster.h"
#include "exec/mbarrier.h"
#include "exec/round_up.h"
#include "exec/semantics.h"

namespace emu {

namespace {

void reduce(uint32_t code, uint64_t to, const uint8_t *from, uint32_t bytes) {
    uint32_t width = atomic_width(code);
    for (uint32_t at = 0; at + width <= bytes; at += width) {
        uint64_t address[32] = {to + at}, operand[32] = {}, old[32];
        std::memcpy(operand, from + at, width);
        exchange(code, 1, address, operand, operand, old);
    }
}

void land(BulkCopy &copy) {
    if (copy.mbarrier && copy.code != ~0u) {
        reduce(copy.code, copy.window + copy.offset, copy.image.data(), copy.size);
        return;
    }
    if (copy.mbarrier) {
        uint8_t *window = reinterpret_cast<uint8_t *>(copy.window);
        for (uint32_t at = 0; at < copy.size; at += bulk_piece) {
            uint32_t bytes = std::min(bulk_piece, copy.size - at);
            std::memcpy(window + swizzled(copy.offset + at, copy.swizzle), copy.image.data() + at, bytes);
        }
        return;
    }
    const uint8_t *window = reinterpret_cast<const uint8_t *>(copy.window);
    std::vector<uint8_t> box(round_up(copy.size, bulk_piece));
    for (uint32_t at = 0; at < copy.size; at += bulk_piece) {
        std::memcpy(box.data() + at, window + swizzled(copy.offset + at, copy.swizzle),
                    std::min(bulk_piece, copy.size - at));
    }
    for (const GlobalRun &run : copy.runs) {
        if (copy.code == ~0u)
            std::memcpy(reinterpret_cast<void *>(run.address), box.data() + run.begin, run.bytes);
        else
            reduce(copy.code, run.address, box.data() + run.begin, run.bytes);
    }
}

}  // namespace

void BulkCopies::clear() {
    loads_.clear();
    stores_.clear();
    groups_.clear();
}

uint32_t &BulkCopies::group(const WarpContext &warp, uint32_t lane) {
    auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Groups &it) { return it.block == warp.block; });
    if (found == groups_.end())
        found = groups_.insert(groups_.end(), {warp.block, std::vector<uint32_t>(32 * warp.block->warp_count())});
    return found->of_thread[warp.warp_id * 32 + lane];
}

void BulkCopies::issue_store(BulkCopy &&copy) {
    copy.group = group(copy.issuer->warp(copy.warp), copy.lane);
    stores_.push_back(std::move(copy));
}

void BulkCopies::commit(const WarpContext &warp, uint32_t lanes) {
    for (; lanes; lanes &= lanes - 1) ++group(warp, static_cast<uint32_t>(__builtin_ctz(lanes)));
}

void BulkCopies::wait(const WarpContext &warp, uint32_t lanes, uint32_t left) {
    if (stores_.empty()) return;
    auto is_due = [&](BulkCopy &copy) {
        bool is_own = copy.issuer == warp.block && copy.warp == warp.warp_id && lanes >> copy.lane & 1;
        if (!is_own || copy.group + uint64_t{left} >= group(warp, copy.lane)) return false;
        BulkAccess access{copy.load_site, copy.window + copy.offset, copy.size, BulkStage::shared_read_ends};
        for (auto &observer : warp.block->observers) observer->bulk(warp, copy.lane, access);
        land(copy);
        return true;
    };
    stores_.erase(std::remove_if(stores_.begin(), stores_.end(), is_due), stores_.end());
}

void BulkCopies::settle(uint64_t mbarrier) {
    for (size_t i = 0; i < loads_.size();) {
        if (loads_[i].mbarrier != mbarrier) {
            ++i;
            continue;
        }
        BulkCopy copy = std::move(loads_[i]);
        loads_.erase(loads_.begin() + static_cast<long>(i));
        if (copy.window == reinterpret_cast<uint64_t>(copy.issuer->warp(0).shared)) {
            BulkAccess access{copy.store_site, copy.window + copy.offset, copy.size, BulkStage::shared_write_ends,
                              mbarrier};
            const WarpContext &warp = copy.issuer->warp(copy.warp);
            for (auto &observer : copy.issuer->observers) observer->bulk(warp, copy.lane, access);
        }
        land(copy);
        complete_bytes(reinterpret_cast<uint64_t *>(mbarrier), copy.size);
    }
}

void BulkCopies::finish(const BlockContext &block) {
    auto is_due = [&](BulkCopy &copy) {
        if (copy.issuer != &block) return false;
        land(copy);
        return true;
    };
    stores_.erase(std::remove_if(stores_.begin(), stores_.end(), is_due), stores_.end());
}

}  // namespace emu

using namespace emu;

void emu_bulk_load(WarpContext *warp, uint32_t load_site, uint32_t store_site, uint32_t barrier_site, uint32_t lanes,
                   uint64_t *to, uint64_t *from, const uint32_t *size, uint64_t *mbarrier, const uint32_t *blocks) {
    check(warp, barrier_site, lanes, mbarrier);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        if (size[l] % bulk_piece) {
            return refuse_copy(warp, load_site, l, from[l], cudaErrorIllegalInstruction,
                               "its size of " + std::to_string(size[l]) + " bytes is no multiple of 16");
        }
        if (!size[l]) continue;
        if (!may_access(warp, store_site, l, to[l], size[l]) || !may_access(warp, load_site, l, from[l], size[l]))
            continue;
        BulkCopy copy{warp->block, warp->warp_id, l, load_site, store_site, 0, 0, size[l], 0};
        auto *bytes = reinterpret_cast<const uint8_t *>(from[l]);
        copy.image.assign(bytes, bytes + size[l]);
        bool is_shared = warp->block->cluster().owner(from[l]) != nullptr;
        if (is_shared) tell_read(warp, load_site, l, from[l], size[l]);
        tell(warp, l, {load_site, from[l], size[l], is_shared ? BulkStage::shared_read_ends : BulkStage::global_read});
        copy_to_shared(warp, l, std::move(copy), to[l], mbarrier[l], blocks);
    }
}

void emu_bulk_store(WarpContext *warp, uint32_t load_site, uint32_t store_site, uint32_t lanes, uint64_t *to,
                    uint64_t *from, const uint32_t *size, uint32_t code) {
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        if (size[l] % bulk_piece) {
            return refuse_copy(warp, store_site, l, to[l], cudaErrorIllegalInstruction,
                               "its size of " + std::to_string(size[l]) + " bytes is no multiple of 16");
        }
        if (!size[l]) continue;
        if (!may_access(warp, store_site, l, to[l], size[l]) || !may_access(warp, load_site, l, from[l], size[l]))
            continue;
        uint64_t window = window_of(warp, from[l]);
        BulkCopy copy{warp->block,
                      warp->warp_id,
                      l,
                      load_site,
                      store_site,
                      window,
                      static_cast<uint32_t>(from[l] - window),
                      size[l],
                      0};
        copy.runs.push_back({to[l], 0, size[l]});
        copy.code = code;
        tell(warp, l, {store_site, to[l], size[l], BulkStage::global_write});
        tell_read(warp, load_site, l, from[l], size[l]);
        warp->block->cluster().copies.issue_store(std::move(copy));
    }
}

void emu_store_async(WarpContext *warp, uint32_t store_site, uint32_t barrier_site, uint32_t lanes, uint64_t *to,
                     uint64_t *mbarrier, const uint8_t *values, uint32_t width, uint32_t code) {
    check(warp, store_site, lanes, to);
    check(warp, barrier_site, lanes, mbarrier);
    uint32_t size = warp->kernel->sites[store_site].size;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        if (window_of(warp, to[l]) != window_of(warp, mbarrier[l])) {
            return refuse_copy(warp, store_site, l, to[l], cudaErrorIllegalInstruction,
                               "its mbarrier lies in the shared memory of another block");
        }
        BulkCopy copy{warp->block, warp->warp_id, l, store_site, store_site, 0, 0, size, 0};
        for (uint32_t at = 0; at < size; at += width) {
            const uint8_t *element = values + (at / width * 32 + l) * width;
            copy.image.insert(copy.image.end(), element, element + width);
        }
        copy.code = code;
        copy_to_shared(warp, l, std::move(copy), to[l], mbarrier[l], nullptr);
    }
}

void emu_bulk_commit(WarpContext *warp, uint32_t lanes) { warp->block->cluster().copies.commit(*warp, lanes); }

void emu_bulk_wait(WarpContext *warp, uint32_t lanes, uint32_t left) {
    warp->block->cluster().copies.wait(*warp, lanes, left);
}
