#include "exec/warp_meeting.h"

#include <bit>

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
        uint32_t word[32], out[32] = {}, flags = 0, variant = of_kind & ~EMU_MEET_FAMILY, votes = 0;
        for (uint32_t l = 0; l < 32; ++l) word[l] = static_cast<uint32_t>(value[l]);
        for (uint32_t l = 0; l < 32; ++l) votes |= (word[l] & 1) << l;
        switch (of_kind & EMU_MEET_FAMILY) {
            case EMU_MEET_SHUFFLE:
                for (uint32_t l = 0; l < 32; ++l) {
                    if (!(ready >> l & 1)) continue;
                    Source from = source_of(variant, l, static_cast<uint32_t>(second[l]), static_cast<uint32_t>(third[l]));
                    out[l] = word[from.lane];
                    flags |= uint32_t{from.is_in_range} << l;
                }
                break;
            case EMU_MEET_VOTE:
                for (uint32_t l = 0; l < 32; ++l) out[l] = vote(variant, mask[l] & here, votes);
                break;
            case EMU_MEET_MATCH:
                if (variant & 2) emu_match64(variant & 1, here, value, mask, out, &flags);
                else emu_match32(variant & 1, here, word, mask, out, &flags);
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

__attribute__((visibility("default"))) void emu_warp_wait(WarpContext *warp, uint32_t site, uint32_t kind, uint32_t number,
                                                          uint32_t lanes, uint32_t active, const uint32_t mask[32],
                                                          const uint64_t value[32], const uint64_t second[32],
                                                          const uint64_t third[32]) {
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
        if (pc & EMU_AT_BARRIER) at_barrier = true;
        else if (!(waiting >> l & 1)) least = pc < least ? pc : least;
    }
    if (least != EMU_EXITED) return least & ~EMU_AT_WARP_SYNC;
    if (!at_barrier) warp->block->launch.stop(cudaErrorLaunchTimeout, report_deadlock(*warp->block));
    return EMU_AT_BARRIER;
}
}
