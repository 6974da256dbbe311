#include "exec/warp_meeting.h"

#include <bit>
#include <cstdio>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/semantics.h"
#include "report/thread_locations.h"

namespace emu {

namespace {

uint32_t lanes_where(const WarpContext &warp, auto holds) {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) lanes |= uint32_t{holds(warp.lane_pc[l])} << l;
    return lanes;
}

// The lane that a shuffle reads, and whether it is in range (the predicate).
struct Source {
    uint32_t lane;
    bool is_in_range;
};

Source source_of(uint32_t mode, uint32_t lane, uint32_t distance, uint32_t control) {
    uint32_t segment = control >> 8 & 31, within = ~segment & 31;
    int32_t limit = static_cast<int32_t>((lane & segment) | (control & within)), from = static_cast<int32_t>(lane);
    int32_t step = static_cast<int32_t>(distance & 31);
    switch (mode) {
    case 0: from -= step; break;
    case 1: from += step; break;
    case 2: from ^= step; break;
    default: from = static_cast<int32_t>((lane & segment) | (distance & within));
    }
    bool in_range = mode == 0 ? from >= limit : from <= limit;
    return {in_range ? static_cast<uint32_t>(from) & 31 : lane, in_range};
}

// What a register might hold: large, of either sign, for integers and floating-point numbers.
uint32_t undefined_number(const WarpContext &warp, uint32_t site, uint32_t lane) {
    uint64_t z = warp.block->launch.seed * 0x9e3779b97f4a7c15;
    for (uint64_t part :
         {uint64_t{site}, uint64_t{warp.warp_id} * 32 + lane, uint64_t{warp.ctaid[0]}, uint64_t{warp.ctaid[1]}}) {
        z = (z ^ part) * 0xbf58476d1ce4e5b9;
        z ^= z >> 29;
    }
    return 0x7e000000 | (static_cast<uint32_t>(z >> 32) & 0x807fffff);
}

// Why the lane that is read takes no part.
std::string reason_of(const WarpContext &warp, uint32_t source, uint32_t mask) {
    if (source >= warp.lane_count) return "which the block does not have";
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    if (!(mask >> source & 1)) return "which the mask " + std::string(text) + " does not name";
    return warp.lane_pc[source] == EMU_EXITED ? "which has ended" : "which does not execute it";
}

uint32_t vote(uint32_t mode, uint32_t members, uint32_t votes) {
    switch (mode) {
    case 0: return (votes & members) == members;
    case 1: return (votes & members) != 0;
    case 2: return (votes & members) == members || (votes & members) == 0;
    default: return votes & members;
    }
}

}  // namespace

uint32_t WarpMeeting::waiting(const WarpContext &warp) const {
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32; ++l) lanes |= uint32_t{warp.lane_pc[l] == (number[l] | EMU_AT_WARP_SYNC)} << l;
    return lanes;
}

bool WarpMeeting::settle(WarpContext &warp) {
    uint32_t alive = lanes_where(warp, [](uint32_t pc) { return pc != EMU_EXITED; });
    bool any = false;
    for (uint32_t rest = waiting(warp); rest;) {
        uint32_t of_kind = kind[std::countr_zero(rest)], here = 0, ready = 0;
        for (uint32_t l = 0; l < 32; ++l) here |= uint32_t{rest >> l & 1 && kind[l] == of_kind} << l;
        rest &= ~here;
        for (uint32_t l = 0; l < 32; ++l) ready |= uint32_t{here >> l & 1 && !(mask[l] & alive & ~here)} << l;
        if (!ready) continue;
        any = true;
        uint32_t sources[32] = {}, absent[32] = {};
        uint32_t word[32], out[32] = {}, flags = 0, variant = of_kind & ~EMU_MEET_FAMILY, votes = 0;
        for (uint32_t l = 0; l < 32; ++l) word[l] = static_cast<uint32_t>(value[l]);
        for (uint32_t l = 0; l < 32; ++l) votes |= (word[l] & 1) << l;
        switch (of_kind & EMU_MEET_FAMILY) {
        case EMU_MEET_SHUFFLE:
            for (uint32_t l = 0; l < 32; ++l) {
                if (!(ready >> l & 1)) continue;
                Source from = source_of(variant, l, static_cast<uint32_t>(second[l]), static_cast<uint32_t>(third[l]));
                out[l] = word[from.lane];
                sources[l] = from.lane;
                absent[l] = !((mask[l] & here) >> from.lane & 1);
                flags |= uint32_t{from.is_in_range} << l;
            }
            for (uint32_t l = 0; l < 32; ++l) {
                if (absent[l]) emu_shuffle_absent(&warp, site[l], 1u << l, sources, mask, out);
            }
            break;
        case EMU_MEET_VOTE:
            for (uint32_t l = 0; l < 32; ++l) out[l] = vote(variant, mask[l] & here, votes);
            break;
        case EMU_MEET_MATCH:
            if (variant & 2)
                emu_match64(variant & 1, here, value, mask, out, &flags);
            else
                emu_match32(variant & 1, here, word, mask, out, &flags);
            break;
        case EMU_MEET_REDUCE: emu_redux(variant, here, word, mask, out); break;
        default: break;
        }
        for (uint32_t l = 0; l < 32; ++l) {
            if (!(ready >> l & 1)) continue;
            warp.met_value[l] = out[l];
            warp.lane_pc[l] = number[l] | EMU_HAS_MET;
        }
        warp.met_flags = (warp.met_flags & ~ready) | (flags & ready);
        for (auto &observer : warp.block->observers) observer->warp_sync(warp, ready);
    }
    return any;
}

std::string lanes_in_words(uint32_t lanes) {
    std::string text;
    for (uint32_t l = 0; l < 32;) {
        if (!(lanes >> l & 1)) {
            ++l;
            continue;
        }
        uint32_t last = l;
        while (last < 31 && lanes >> (last + 1) & 1) ++last;
        text += (text.empty() ? "" : ", ") + std::to_string(l);
        if (last > l) text += (last == l + 1 ? ", " : " to ") + std::to_string(last);
        l = last + 1;
    }
    return (std::has_single_bit(lanes) ? "lane " : "lanes ") + text;
}

}  // namespace emu

extern "C" {

__attribute__((visibility("default"))) void emu_shuffle_absent(WarpContext *warp, uint32_t site, uint32_t lanes,
                                                               const uint32_t source[32], const uint32_t mask[32],
                                                               uint32_t value[32]) {
    using namespace emu;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t l = static_cast<uint32_t>(std::countr_zero(rest));
        value[l] = undefined_number(*warp, site, l);
    }
    // Of a lane that its own mask does not name, that is told.
    for (uint32_t l = 0; l < 32; ++l) lanes &= ~(uint32_t{!(mask[l] >> l & 1)} << l);
    if (!lanes) return;
    Launch &launch = warp->block->launch;
    ++launch.faults;
    if (!launch.first_at(site, cudaErrorInvalidValue)) return;
    uint32_t lane = static_cast<uint32_t>(std::countr_zero(lanes));
    Fault fault = fault_at({warp, &warp->kernel->sites[site], lane, 0});
    fault.kind = "undefined shuffle";
    fault.size = 0;
    fault.is_write = false;
    fault.message = fault.kind + " at " + where(fault) + ": lane " + std::to_string(lane) + " reads lane " +
                    std::to_string(source[lane]) + ", which takes no part (" +
                    reason_of(*warp, source[lane], mask[lane]) +
                    "): what it gets is undefined, and so is all that is computed with it";
    launch.report_fault(site, cudaErrorInvalidValue, std::move(fault));
}

__attribute__((visibility("default"))) void emu_warp_wait(WarpContext *warp, uint32_t site, uint32_t kind,
                                                          uint32_t number, uint32_t lanes, uint32_t active,
                                                          const uint32_t mask[32], const uint64_t value[32],
                                                          const uint64_t second[32], const uint64_t third[32]) {
    emu::WarpMeeting &meeting = warp->block->meeting(warp->warp_id);
    uint32_t strangers = 0;
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        if (!(active >> l & 1)) {
            warp->lane_pc[l] = number | EMU_HAS_MET;  // its guard is false
            continue;
        }
        meeting.number[l] = number;
        meeting.site[l] = site;
        meeting.kind[l] = kind;
        meeting.mask[l] = mask[l];
        meeting.value[l] = value[l];
        meeting.second[l] = second[l];
        meeting.third[l] = third[l];
        warp->lane_pc[l] = number | EMU_AT_WARP_SYNC;
        strangers |= uint32_t{!(mask[l] >> l & 1)} << l;
    }
    if (strangers) emu_warp_sync_fault(warp, site, active, strangers, mask);
    meeting.settle(*warp);
}

__attribute__((visibility("default"))) uint32_t emu_warp_blocked(WarpContext *warp) {
    using namespace emu;
    WarpMeeting &meeting = warp->block->meeting(warp->warp_id);
    if (meeting.settle(*warp)) return EMU_EXITED;
    uint32_t waiting = meeting.waiting(*warp), least = EMU_EXITED;
    bool at_barrier = false;
    for (uint32_t l = 0; l < 32; ++l) {
        uint32_t pc = warp->lane_pc[l];
        if (pc == EMU_EXITED) continue;
        if (pc & EMU_AT_BARRIER)
            at_barrier = true;
        else if (!(waiting >> l & 1))
            least = pc < least ? pc : least;
    }
    if (least != EMU_EXITED) return least & ~EMU_AT_WARP_SYNC;
    if (!at_barrier) warp->block->launch.stop(cudaErrorLaunchTimeout, report_deadlock(*warp->block));
    return EMU_AT_BARRIER;
}
}
