#include "exec/async_copy.h"

#include <algorithm>
#include <cstring>

#include "exec/block.h"
#include "exec/mbarrier.h"
#include "exec/semantics.h"

namespace emu {

AsyncCopies::AsyncCopies(BlockContext &block) : block_(block), warps_(block.warp_count()) {}

void AsyncCopies::clear() {
    for (Warp &warp : warps_) warp = {};
    arrivals_.clear();
}

void AsyncCopies::issue(uint32_t index, uint32_t lanes, const uint64_t *to, const uint64_t *from, uint32_t size,
                        const uint32_t *wanted, uint32_t load_site) {
    Warp &warp = warps_[index];
    Copy &copy = warp.pending.emplace_back();
    copy.lanes = lanes;
    copy.size = size;
    copy.load_site = load_site;
    copy.number = warp.issued++;
    // Where warps run ahead, the copies of every other warp do, too: they overwrite what others may still read.
    copy.lands_at_once = block_.launch.runs_ahead && index % 2;
    std::copy_n(warp.group, 32, copy.group);
    std::copy_n(to, 32, copy.to);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes), bytes = std::min(wanted[l], size);
        copy.from[l] = bytes == size ? from[l] : 0;
        if (bytes) std::memcpy(copy.bytes[l], reinterpret_cast<const void *>(from[l]), bytes);
        std::memset(copy.bytes[l] + bytes, 0, size - bytes);
        if (copy.lands_at_once) std::memcpy(reinterpret_cast<void *>(to[l]), copy.bytes[l], size);
    }
}

void AsyncCopies::commit(uint32_t index, uint32_t lanes) {
    for (uint32_t l = 0; l < 32; ++l) warps_[index].group[l] += lanes >> l & 1;
}

template <class IsDue>
void AsyncCopies::land(uint32_t index, uint32_t lanes, bool waited, IsDue is_due) {
    Warp &warp = warps_[index];
    for (Copy &copy : warp.pending) {
        for (uint32_t left = copy.lanes & lanes; left; left &= left - 1) {
            uint32_t l = __builtin_ctz(left);
            if (!is_due(copy, l)) continue;
            LandedCopy landed{copy.to[l], copy.from[l], copy.size, copy.load_site};
            for (auto &observer : block_.observers) observer->land(block_.warp(index), l, landed, waited);
            if (!copy.lands_at_once) std::memcpy(reinterpret_cast<void *>(copy.to[l]), copy.bytes[l], copy.size);
            copy.lanes &= ~(1u << l);
        }
    }
    while (!warp.pending.empty() && !warp.pending.front().lanes) warp.pending.pop_front();
}

void AsyncCopies::wait(uint32_t index, uint32_t lanes, uint32_t left) {
    const Warp &warp = warps_[index];
    land(index, lanes, true,
         [&](const Copy &copy, uint32_t l) { return uint64_t{copy.group[l]} + left < warp.group[l]; });
}

void AsyncCopies::wait_all(uint32_t index, uint32_t lanes) {
    land(index, lanes, true, [](const Copy &, uint32_t) { return true; });
}

void AsyncCopies::arrive_later(uint32_t index, uint32_t lanes, const uint64_t *mbarrier) {
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        uint64_t number = warps_[index].issued;
        auto is_same = [&](const Arrival &a) {
            return a.mbarrier == mbarrier[l] && a.warp == index && a.number == number && !(a.lanes >> l & 1);
        };
        auto known = std::find_if(arrivals_.begin(), arrivals_.end(), is_same);
        if (known == arrivals_.end()) {
            arrivals_.push_back({mbarrier[l], index, 1u << l, number});
        } else {
            known->lanes |= 1u << l;
        }
    }
}

void AsyncCopies::settle(uint64_t mbarrier) {
    auto is_due = [&](const Arrival &arrival) {
        if (arrival.mbarrier != mbarrier) return false;
        land(arrival.warp, arrival.lanes, false,
             [&](const Copy &copy, uint32_t) { return copy.number < arrival.number; });
        arrive(reinterpret_cast<uint64_t *>(mbarrier), static_cast<uint32_t>(__builtin_popcount(arrival.lanes)), false);
        return true;
    };
    arrivals_.erase(std::remove_if(arrivals_.begin(), arrivals_.end(), is_due), arrivals_.end());
}

}  // namespace emu

void emu_cp_async(WarpContext *warp, uint32_t load_site, uint32_t part_site, uint32_t store_site, uint32_t lanes,
                  uint64_t *to, uint64_t *from, uint32_t size, const uint32_t *wanted) {
    uint32_t whole = 0, some = 0;
    uint64_t last[32] = {};
    for (uint32_t l = 0; l < 32; ++l) {
        whole |= uint32_t{wanted[l] >= size} << l;
        some |= uint32_t{wanted[l] && wanted[l] < size} << l;
        last[l] = from[l] + wanted[l] - 1;
    }
    emu::check(warp, load_site, lanes & whole, from);
    if (lanes & some) {
        emu::check(warp, part_site, lanes & some, from);
        emu::check(warp, part_site, lanes & some, last);
        // Where the end is bad, the whole is.
        for (uint32_t l = 0; l < 32; ++l) {
            if ((lanes & some) >> l & 1 && last[l] != from[l] + wanted[l] - 1) from[l] = last[l];
        }
    }
    emu::check(warp, store_site, lanes, to);
    warp->block->async_copies().issue(warp->warp_id, lanes, to, from, size, wanted, load_site);
}

void emu_cp_async_commit(WarpContext *warp, uint32_t lanes) {
    warp->block->async_copies().commit(warp->warp_id, lanes);
}

void emu_cp_async_wait(WarpContext *warp, uint32_t lanes, uint32_t left) {
    warp->block->async_copies().wait(warp->warp_id, lanes, left);
}

void emu_cp_async_wait_all(WarpContext *warp, uint32_t lanes) {
    warp->block->async_copies().wait_all(warp->warp_id, lanes);
}

void emu_cp_async_arrive(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *mbarrier, uint32_t counts) {
    emu::check(warp, site, lanes, mbarrier);
    for (uint32_t left = counts ? lanes : 0; left; left &= left - 1) {
        emu::expect_one_more(reinterpret_cast<uint64_t *>(mbarrier[__builtin_ctz(left)]));
    }
    for (auto &observer : warp->block->observers) observer->mbarrier_arrive(*warp, lanes, mbarrier);
    warp->block->async_copies().arrive_later(warp->warp_id, lanes, mbarrier);
}
