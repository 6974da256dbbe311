// What a block does as one of a cluster: it waits at the cluster's barrier; the first block starts and runs the others.

#include <algorithm>
#include <utility>

#include "exec/block.h"

using emu::Progress;
using emu::Warp;

void BlockContext::start(uint64_t number) {
    if (others_.empty()) {
        if (!cluster_->copies.empty()) cluster_->copies.clear();
        return start_alone(number);
    }
    cluster_->start();
    const uint32_t *shape = launch.cluster, *grid = launch.grid;
    uint64_t wide = grid[0] / shape[0], high = grid[1] / shape[1];
    uint64_t x = number % wide * shape[0], y = number / wide % high * shape[1], z = number / wide / high * shape[2];
    for (uint32_t rank = 0; rank <= others_.size(); ++rank) {
        uint64_t dx = rank % shape[0], dy = rank / shape[0] % shape[1], dz = rank / shape[0] / shape[1];
        uint64_t block = x + dx + grid[0] * (y + dy + grid[1] * (z + dz));
        (rank ? *others_[rank - 1] : *this).start_alone(block);
    }
}

void BlockContext::note_cluster_arrival(const WarpContext &warp, uint32_t lanes) {
    if (cluster_phases_.empty()) cluster_phases_.resize(launch.threads_per_block());
    for (; lanes; lanes &= lanes - 1)
        cluster_phases_[warp.warp_id * 32 + static_cast<uint32_t>(std::countr_zero(lanes))] = cluster_->phase();
}

void BlockContext::wait_at(WarpContext &warp, uint32_t id, uint32_t lanes) {
    arrived_at |= 1u << id;
    for (; lanes; lanes &= lanes - 1) warp.lane_barrier[std::countr_zero(lanes)] = id;
}

bool BlockContext::release_lanes(uint32_t id, const std::function<bool(uint32_t, uint32_t)> &is_due) {
    bool released = false, left = false;
    for (uint32_t w = 0; w < warp_count_; ++w) {
        Warp &warp = warps_[w];
        if (warp.done) continue;
        bool goes_on = false;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            bool is_uniform = warp.mode == EMU_UNIFORM;
            bool waits =
                is_uniform ? warp.waiting : warp.lane_pc[lane] != EMU_EXITED && warp.lane_pc[lane] & EMU_AT_BARRIER;
            if (!waits || warp.lane_barrier[lane] != id) continue;
            bool goes = is_due(w, lane);
            left |= !goes;
            goes_on |= goes;
            if (is_uniform) break;  // its lanes have arrived together
            if (goes) warp.lane_pc[lane] &= ~EMU_AT_BARRIER;
        }
        if (!goes_on) continue;
        warp.waiting = false;
        warp.gives_way = !warp.quiet;
        released = true;
    }
    if (!left) arrived_at &= ~(1u << id);
    return released;
}

// Lets those go on that have arrived in an earlier phase.
bool BlockContext::release_cluster_barrier() {
    cluster_->look();
    bool released = release_lanes(cluster_barrier, [&](uint32_t w, uint32_t lane) {
        return !cluster_phases_.empty() && cluster_phases_[w * 32 + lane] != cluster_->phase();
    });
    if (released) {
        for (auto &observer : observers) observer->release(cluster_barrier);
    }
    return released;
}

void BlockContext::note_mbarrier_wait(const WarpContext &warp, uint32_t site, uint32_t lane, uint64_t mbarrier) {
    warps_[warp.warp_id].polled = true;
    mbarrier_waits_[warp.warp_id] = {site, lane, mbarrier};
}

// Whether it has ended, waits for others, or is in loops that nothing but mbarriers ends (jit/waiting.py). Lanes that
// are apart have their turns at the lowest and the highest of their places only, so that nothing is known of those
// between.
bool BlockContext::is_in_waiting_loop(const Warp &warp) const {
    const EmuKernel &kernel = *launch.kernel;
    auto is_waiting = [&](uint32_t block) {
        return std::binary_search(kernel.waiting, kernel.waiting + kernel.waiting_count, block);
    };
    if (warp.done || warp.waiting) return true;
    if (warp.mode == EMU_UNIFORM) return is_waiting(warp.pc);
    uint32_t least = EMU_EXITED, most = 0;
    for (uint32_t pc : warp.lane_pc) {
        if (pc >= EMU_AT_WARP_SYNC) continue;
        least = std::min(least, pc);
        most = std::max(most, pc);
    }
    return std::all_of(warp.lane_pc, warp.lane_pc + 32, [&](uint32_t pc) {
        return pc >= EMU_AT_WARP_SYNC || ((pc == least || pc == most) && is_waiting(pc));
    });
}

// Whether its warps wait for mbarriers, each in a loop whose rounds have been alike for long, since nobody completes
// them.
bool BlockContext::waits_for_ever() const {
    constexpr uint32_t many = 1000;  // all lanes have had their turns
    return idle_rounds_ > many;
}

Progress BlockContext::advance(const emu::SchedulerLimits &limits) {
    if (others_.empty()) {
        Progress progress = advance_alone(limits);
        return progress == Progress::spun && waits_for_ever() ? Progress::deadlock : progress;
    }
    bool all_ended = true, all_wait = true, all_stuck = true;
    Progress result = Progress::spun;
    uint64_t before = cluster_->progress();
    for (uint32_t rank = 0; rank < cluster_->size(); ++rank) {
        BlockContext &block = cluster_->block(rank);
        if (block.ended_) continue;
        Progress progress = block.advance_alone(limits);
        if (rank) unreported_instructions += std::exchange(block.unreported_instructions, 0);
        if (launch.stopped()) return Progress::finished;
        if (progress == Progress::finished) {
            block.ended_ = true;
            // On hardware it may be another block's by now.
            std::fill_n(block.shared_, shared_bytes_, emu::garbage);
            cluster_->note_progress();
            cluster_->look();
            continue;
        }
        all_ended = false;
        all_wait &= block.only_waits_;
        bool is_stuck = progress == Progress::deadlock || block.waits_for_ever();
        all_stuck &= is_stuck;
        if (is_stuck && progress == Progress::deadlock) stuck_ = &block;
        if (is_stuck && block.waits_for_ever()) stuck_ = &block;  // which says more
        if (progress == Progress::gave_way) result = progress;
    }
    only_waits_ = all_wait;
    if (all_ended) return Progress::finished;
    return all_stuck && cluster_->progress() == before ? Progress::deadlock : result;
}
