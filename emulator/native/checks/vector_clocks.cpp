#include "checks/vector_clocks.h"

#include <algorithm>

namespace emu {

BlockClocks::BlockClocks(uint32_t threads)
    : warps_((threads + 31) / 32),
      threads_(threads),
      clock_(warps_),
      knows_(size_t{warps_} * warps_),
      fenced_(knows_.size()),
      together_(warps_),
      is_apart_(warps_),
      lanes_(warps_),
      seen_(warps_),
      barrier_(barriers) {
    for (Barrier &at : barrier_) {
        at.known.resize(warps_);
        at.fenced.resize(warps_);
        at.waiting.resize(warps_);
    }
}

void BlockClocks::start() {
    std::fill(clock_.begin(), clock_.end(), 1);
    for (auto *rows : {&knows_, &fenced_, &together_}) std::fill(rows->begin(), rows->end(), 0);
    std::fill(is_apart_.begin(), is_apart_.end(), 0);
    std::fill(seen_.begin(), seen_.end(), 0);
    std::fill(slot_used_.begin(), slot_used_.end(), 0);
    for (Barrier &at : barrier_) {
        for (auto *rows : {&at.known, &at.fenced, &at.waiting}) std::fill(rows->begin(), rows->end(), 0);
        at.seen = 0;
    }
}

bool BlockClocks::knows(uint32_t warp, uint32_t lane, uint32_t thread, Clock then) const {
    uint32_t other = thread / 32;
    if (other != warp) return then <= knows_[size_t{warp} * warps_ + other];
    if (thread % 32 == lane || then <= together_[warp]) return true;
    return is_apart_[warp] && then <= lanes_[warp].knows[lane][thread % 32];
}

void BlockClocks::join(Clock *into, const Clock *from) const {
    for (uint32_t w = 0; w < warps_; ++w) into[w] = std::max(into[w], from[w]);
}

BlockClocks::Lanes &BlockClocks::apart(uint32_t warp) {
    if (!is_apart_[warp]) {
        for (auto &of_lane : lanes_[warp].knows) std::fill_n(of_lane, 32, together_[warp]);
        is_apart_[warp] = 1;
    }
    return lanes_[warp];
}

void BlockClocks::note(uint32_t warp, uint32_t lane, Clock own[32], std::vector<Clock> *of_warps) const {
    for (uint32_t other = 0; other < 32; ++other) {
        own[other] = together_[warp];
        if (is_apart_[warp]) own[other] = std::max(own[other], lanes_[warp].knows[lane][other]);
    }
    own[lane] = clock_[warp];
    const Clock *known = &knows_[size_t{warp} * warps_];
    of_warps->assign(known, known + warps_);
}

void BlockClocks::warp_sync(uint32_t warp, uint32_t lanes) {
    Clock now = clock_[warp]++;
    uint32_t exist = std::min(32u, threads_ - warp * 32);
    if (lanes == (exist == 32 ? 0xffffffffu : (1u << exist) - 1)) {
        together_[warp] = now;
        is_apart_[warp] = 0;
        return;
    }
    Lanes &of = apart(warp);
    Clock joined[32] = {};
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        for (uint32_t k = 0; k < 32; ++k) joined[k] = std::max(joined[k], of.knows[l][k]);
    }
    for (uint32_t l = 0; l < 32; ++l) {
        if (lanes >> l & 1) joined[l] = now;
    }
    for (uint32_t l = 0; l < 32; ++l) {
        if (lanes >> l & 1) std::copy_n(joined, 32, of.knows[l]);
    }
}

void BlockClocks::arrive(uint32_t warp, uint32_t barrier, uint32_t lanes, bool waits) {
    Barrier &at = barrier_[barrier];
    join(at.known.data(), row(warp));
    join(at.fenced.data(), fenced(warp));
    at.known[warp] = clock_[warp]++;
    at.seen = std::max(at.seen, seen_[warp]);
    if (waits) at.waiting[warp] |= lanes;
}

void BlockClocks::release(uint32_t barrier) {
    Barrier &at = barrier_[barrier];
    for (uint32_t w = 0; w < warps_; ++w) {
        if (!at.waiting[w]) continue;
        join(row(w), at.known.data());
        join(&fenced_[size_t{w} * warps_], at.fenced.data());
        see(w, at.seen);
        warp_sync(w, at.waiting[w]);
    }
    // Threads pass the cluster's barrier one by one: what is known there stays.
    if (barrier == barriers - 1) return;
    for (auto *rows : {&at.known, &at.fenced, &at.waiting}) std::fill(rows->begin(), rows->end(), 0);
    at.seen = 0;
}

const Clock *BlockClocks::all(uint32_t warp) {
    row(warp)[warp] = clock_[warp];
    return row(warp);
}

void BlockClocks::fence(uint32_t warp) {
    join(&fenced_[size_t{warp} * warps_], all(warp));
    tick(warp);
}

namespace {

size_t slot_of(uint64_t address, uint32_t slots) { return ((address >> 2) * 0x9e3779b97f4a7c15 >> 32) % slots; }

}  // namespace

void BlockClocks::learn(uint32_t warp, uint32_t lanes, uint64_t address) {
    size_t slot = slot_of(address, slots);
    if (slot_used_.empty() || !slot_used_[slot]) return;
    const Clock *known = &slots_[slot * warps_];
    join(row(warp), known);
    if (known[warp] <= together_[warp]) return;
    Lanes &of = apart(warp);
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        for (Clock &of_other : of.knows[l]) of_other = std::max(of_other, known[warp]);
    }
}

void BlockClocks::pass_on(uint32_t warp, uint64_t address) {
    if (slots_.empty()) {
        slots_.resize(size_t{slots} * warps_);
        slot_used_.resize(slots);
    }
    size_t slot = slot_of(address, slots);
    Clock *known = &slots_[slot * warps_];
    if (!slot_used_[slot]) std::fill_n(known, warps_, 0);
    slot_used_[slot] = 1;
    join(known, all(warp));
}

void Publications::pass_on(uint64_t block, const Clock *upto, uint32_t seen, uint64_t address) {
    auto found = blocks_.find(block);
    bool anything = std::any_of(upto, upto + warps_, [](Clock clock) { return clock != 0; });
    if (anything && !exhausted_) {
        if (found == blocks_.end()) found = blocks_.try_emplace(block).first;
        Block &of = found->second;
        const Clock *last = of.times.empty() ? nullptr : &of.upto[of.upto.size() - warps_];
        bool more = !last;
        for (uint32_t w = 0; w < warps_ && !more; ++w) more = upto[w] > last[w];
        if (more) {
            size_t end = of.upto.size();
            of.upto.resize(end + warps_);
            for (uint32_t w = 0; w < warps_; ++w) {
                of.upto[end + w] = std::max(upto[w], end ? of.upto[end + w - warps_] : 0);
            }
            of.times.push_back(++now_);
            kept_ += warps_;
            exhausted_ = kept_ > max_clocks;
        }
    }
    uint32_t time = std::max(seen, found == blocks_.end() ? 0 : found->second.times.back());
    if (!time) return;
    if (slots_.empty()) slots_.resize(size_t{1} << slot_bits);
    uint32_t &known = slots_[slot(address)];
    known = std::max(known, time);
}

bool Publications::known(uint64_t block, uint32_t warp, Clock then, uint32_t seen) const {
    if (exhausted_) return true;
    auto found = blocks_.find(block);
    if (found == blocks_.end()) return false;
    const Block &of = found->second;
    // The first publication that has it.
    size_t low = 0, high = of.times.size();
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (of.upto[middle * warps_ + warp] >= then)
            high = middle;
        else
            low = middle + 1;
    }
    return low < of.times.size() && of.times[low] <= seen;
}

}  // namespace emu
