#include "profile/poll_detector.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace emu {

namespace {

constexpr uint32_t longest_window = 64, max_pauses = 256;
constexpr size_t max_kept_accesses = 64;  // a round of more accesses is no waiting
constexpr uint32_t block_bits = EMU_AT_WARP_SYNC - 1, together = 1u << 31;

// Where the lanes are; marked where they run together.
struct Where {
    uint32_t at[32], count;

    explicit Where(const WarpContext &warp) {
        if (warp.mode == EMU_UNIFORM) {
            at[0] = warp.pc | together;
            count = 1;
        } else {
            // Lanes that wait for others of the warp are where they are, whether they know it already or not.
            for (uint32_t lane = 0; lane < 32; ++lane) at[lane] = warp.lane_pc[lane] & ~EMU_AT_WARP_SYNC;
            count = 32;
        }
    }

    // Calls `visit` for each basic block where lanes are, until it is false.
    template <class Visit>
    bool each_block(uint32_t block_count, const Visit &visit) const {
        for (uint32_t lane = 0; lane < count; ++lane) {
            uint32_t block = at[lane] & block_bits;
            if (block >= block_count || std::find(at, at + lane, at[lane]) != at + lane) continue;
            if (!visit(block)) return false;
        }
        return true;
    }
};

// Calls `visit(bytes, size)` for each part of the warp's state, until it is false.
template <class Visit>
bool each_part(const WarpContext &warp, const Visit &visit) {
    const EmuKernel &kernel = *warp.kernel;
    Where where(warp);
    if (!visit(where.at, where.count * sizeof where.at[0])) return false;
    return where.each_block(kernel.block_count, [&](uint32_t block) {
        for (uint32_t i = block ? kernel.live_ends[block - 1] : 0; i < kernel.live_ends[block]; ++i) {
            if (!visit(warp.registers + kernel.live[2 * i], kernel.live[2 * i + 1])) return false;
        }
        return true;
    });
}

bool is_in(const WarpContext &warp, const std::vector<uint8_t> &state) {
    const uint8_t *at = state.data();
    return each_part(warp, [&](const void *bytes, size_t size) {
        bool is_same = std::memcmp(at, bytes, size) == 0;
        at += size;
        return is_same;
    });
}

bool is_polling(const WarpContext &warp, const std::vector<bool> &polling) {
    if (warp.mode == EMU_UNIFORM) return polling[warp.pc];
    for (uint32_t pc : warp.lane_pc) {
        uint32_t block = pc & block_bits;
        if (block < polling.size() && polling[block]) return true;
    }
    return false;
}

}  // namespace

void PollDetector::start() {
    is_watched_ = has_polled_ = has_acted_ = waits_ = false;
    rounds_ = instructions_ = 0;
    kept_.clear();
}

bool PollDetector::keep(uint32_t site, uint32_t mask, const uint64_t *address) {
    if (!is_watched_ || has_acted_) return false;
    if (kept_.size() == max_kept_accesses) {
        note_effect();
        return false;
    }
    Access &access = kept_.emplace_back();
    access.site = site;
    access.mask = mask;
    std::copy_n(address, 32, access.address);
    return true;
}

const std::vector<PollDetector::Access> &PollDetector::pause(WarpContext &warp, bool at_loop_head,
                                                             const std::vector<bool> &polling) {
    counted_.clear();
    bool has_acted = std::exchange(has_acted_, false);
    has_polled_since_ |= std::exchange(has_polled_, false);
    bool may_watch = at_loop_head && is_polling(warp, polling);
    if (is_watched_) {
        bool goes_on = at_loop_head && !has_acted && ++pauses_ < max_pauses;
        waits_ &= goes_on && pauses_ <= pauses_of_round_;
        if (goes_on && !may_watch) return counted_;
        if (goes_on && is_in(warp, state_)) {
            forget(warp);
            return counted_;
        }
        if (goes_on && ++rounds_since_ < window_) return counted_;
        count();
        window_ *= 2;
        if (!goes_on || window_ > longest_window) stop(warp);
    }
    if (may_watch) watch(warp);
    return counted_;
}

void PollDetector::watch(WarpContext &warp) {
    if (!is_watched_) {
        is_watched_ = true;
        window_ = 1;
        own_tally_.resize(size_t{2} * warp.kernel->block_count);
        tally_ = std::exchange(warp.tally, own_tally_.data());
    }
    size_t bytes_in_all = 0;
    each_part(warp, [&](const void *, size_t size) {
        bytes_in_all += size;
        return true;
    });
    state_.resize(std::max(bytes_in_all, sizeof(Where)));  // so much is compared at least
    uint8_t *to = state_.data();
    each_part(warp, [&](const void *bytes, size_t size) {
        std::memcpy(to, bytes, size);
        to += size;
        return true;
    });
    begin_round(warp);
}

void PollDetector::stop(WarpContext &warp) {
    warp.tally = tally_;
    is_watched_ = waits_ = false;
}

void PollDetector::count() {
    for (size_t i = 0; i < own_tally_.size(); ++i) tally_[i] += std::exchange(own_tally_[i], 0);
    std::swap(kept_, counted_);
}

// What it did since it was in `state_`; unless it did not look at anything, and waits for time to pass.
void PollDetector::forget(const WarpContext &warp) {
    waits_ = has_polled_since_;
    pauses_of_round_ = pauses_;
    if (waits_) {
        ++rounds_;
        instructions_ += warp.instructions - since_;
        std::fill(own_tally_.begin(), own_tally_.end(), 0);
        kept_.clear();
    } else {
        count();
    }
    begin_round(warp);
}

void PollDetector::begin_round(const WarpContext &warp) {
    pauses_ = rounds_since_ = 0;
    since_ = warp.instructions;
    has_polled_since_ = false;
}

}  // namespace emu
