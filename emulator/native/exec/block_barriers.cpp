// The barriers of a block: who arrives, who goes on and when.

#include <algorithm>
#include <bit>
#include <string>

#include "checks/faults.h"
#include "exec/block.h"
#include "report/thread_locations.h"

uint32_t BlockContext::live_threads() const {
    uint32_t live = 0;
    for (uint32_t w = 0; w < warp_count_; ++w) {
        const emu::Warp &warp = warps_[w];
        if (warp.done) continue;
        if (warp.mode == EMU_UNIFORM) {
            live += 32;
        } else {
            for (uint32_t lane = 0; lane < 32; ++lane) live += warp.lane_pc[lane] != EMU_EXITED;
        }
    }
    return live;
}

bool BlockContext::all_wait_at(uint32_t id) const {
    for (uint32_t w = 0; w < warp_count_; ++w) {
        const emu::Warp &warp = warps_[w];
        if (!warp.waiting || warp.mode != EMU_UNIFORM || warp.pc != warps_[0].pc || warp.lane_barrier[0] != id)
            return false;
    }
    return true;
}

bool BlockContext::diverges(uint32_t id, uint32_t waiting) const {
    if (!barrier[id].expected && waiting < launch.threads_per_block()) return true;
    uint32_t first = 0;  // block behind the barrier
    auto differs = [&](uint32_t following) {
        if (!first) first = following;
        if (following == first) return false;
        const EmuLine *lines = launch.kernel->block_lines;
        return lines[2 * following - 1].line != lines[2 * first - 1].line;  // code is duplicated, too
    };
    for (uint32_t w = 0; w < warp_count_; ++w) {
        const emu::Warp &warp = warps_[w];
        if (warp.done) continue;
        if (warp.mode == EMU_UNIFORM) {
            if (warp.waiting && warp.lane_barrier[0] == id && differs(warp.pc)) return true;
            continue;
        }
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t pc = warp.lane_pc[lane];
            bool waits = pc != EMU_EXITED && pc & EMU_AT_BARRIER && warp.lane_barrier[lane] == id;
            if (waits && differs(pc & ~EMU_AT_BARRIER)) return true;
        }
    }
    return false;
}

bool BlockContext::release_barriers() {
    bool released = false;
    for (uint32_t rest = arrived_at; rest; rest &= rest - 1) {
        uint32_t id = static_cast<uint32_t>(std::countr_zero(rest));
        if (id >= cluster_barrier) {
            released |= id == cluster_barrier ? release_cluster_barrier() : release_warpgroup(id);
            continue;
        }
        emu::Barrier &at = barrier[id];
        bool together = all_wait_at(id);
        uint32_t needed = at.expected ? at.expected : together ? at.arrived : live_threads();
        if (at.arrived < needed) continue;
        if (!together && diverges(id, needed)) emu::report_divergence(*this, id);
        switch (at.op) {
        case EMU_RED_AND: at.result = at.predicates == at.arrived; break;
        case EMU_RED_OR: at.result = at.predicates != 0; break;
        default: at.result = at.predicates;
        }
        at.arrived = at.expected = at.predicates = 0;
        arrived_at &= ~(1u << id);
        released = true;
        for (auto &observer : observers) observer->release(id);
        for (uint32_t w = 0; w < warp_count_; ++w) {
            emu::Warp &warp = warps_[w];
            if (warp.done) continue;
            bool goes_on = false;
            if (warp.mode == EMU_UNIFORM) {
                goes_on = warp.waiting && warp.lane_barrier[0] == id;
            } else {
                for (uint32_t lane = 0; lane < 32; ++lane) {
                    uint32_t pc = warp.lane_pc[lane];
                    if (pc == EMU_EXITED || !(pc & EMU_AT_BARRIER) || warp.lane_barrier[lane] != id) continue;
                    warp.lane_pc[lane] = pc & ~EMU_AT_BARRIER;
                    goes_on = true;
                }
            }
            if (goes_on) {
                warp.waiting = false;
                warp.gives_way = !warp.quiet;
            }
        }
    }
    return released;
}

extern "C" {

__attribute__((visibility("default"))) uint32_t emu_barrier_check(WarpContext *warp, uint32_t site, uint32_t lanes,
                                                                  uint32_t id) {
    if (id < BlockContext::barriers || !lanes) return 0;
    emu::Fault fault =
        emu::fault_at({warp, &warp->kernel->sites[site], static_cast<uint32_t>(std::countr_zero(lanes)), 0});
    warp->block->launch.stop(cudaErrorIllegalInstruction, "illegal barrier number at " + emu::where(fault) + ": " +
                                                              std::to_string(id) +
                                                              ", a block has the barriers 0 to 15");
    return 1;
}

__attribute__((visibility("default"))) void emu_barrier_arrive(WarpContext *warp, uint32_t id, uint32_t expected,
                                                               uint32_t lanes, uint32_t op, uint32_t predicate) {
    if (!lanes) return;  // nor does `id` mean anything
    BlockContext &block = *warp->block;
    emu::Barrier &at = block.barrier[id];
    block.arrived_at |= 1u << id;
    at.arrived += __builtin_popcount(lanes);
    at.predicates += __builtin_popcount(lanes & predicate);
    if (expected) at.expected = expected;
    for (auto &observer : block.observers) observer->arrive(*warp, id, lanes, op != EMU_ARRIVE);
    if (op == EMU_ARRIVE) return;
    at.op = op;
    if (lanes == ~0u) {
        std::fill_n(warp->lane_barrier, 32, id);
        return;
    }
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (lanes >> lane & 1) warp->lane_barrier[lane] = id;
    }
}

__attribute__((visibility("default"))) uint32_t emu_barrier_result(WarpContext *warp, uint32_t id) {
    return warp->block->barrier[id % BlockContext::barriers].result;  // of lanes that are none, any number
}
}
