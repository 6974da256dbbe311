#include "report/thread_locations.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <vector>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/mbarrier.h"
#include "report/report.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

enum class Doing { waits_at_barrier, waits_for_warp, runs, has_ended };

// Threads that do the same at one source line.
struct Group {
    Doing doing;
    EmuLine at;
    uint32_t first, count;
};

bool same(const EmuLine &a, const EmuLine &b) { return a.line == b.line && !std::strcmp(a.file, b.file); }

class Groups {
public:
    explicit Groups(const BlockContext &block) : kernel_(*block.launch.kernel) {
        for (uint32_t w = 0; w < block.warp_count(); ++w) {
            const Warp &warp = block.warp(w);
            for (uint32_t lane = 0; lane < warp.lane_count; ++lane) add(warp, lane);
        }
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group &a, const Group &b) { return a.doing < b.doing; });
    }

    const Group *first(Doing doing) const {
        auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group &it) { return it.doing == doing; });
        return found == groups_.end() ? nullptr : &*found;
    }

    // Whether all threads that have not ended wait at one source line.
    bool rest_has_ended() const {
        return groups_.size() == 2 && groups_[0].doing == Doing::waits_at_barrier &&
               groups_[1].doing == Doing::has_ended;
    }

    // "32 threads, first (0,0,0), wait at f.cu:3; the other 31 threads, first (32,0,0), have ended".
    std::string words() const {
        constexpr size_t most = 4;
        std::string text;
        for (size_t i = 0; i < std::min(most, groups_.size()); ++i) text += (i ? "; " : "") + words(groups_[i]);
        return groups_.size() > most ? text + "; others are elsewhere or have ended" : text;
    }

private:
    void add(const Warp &warp, uint32_t lane) {
        bool together = warp.mode == EMU_UNIFORM;
        uint32_t pc = together ? warp.pc : warp.lane_pc[lane];
        Group here{Doing::runs, {"", 0}, warp.warp_id * 32 + lane, 1};
        if (warp.done || (!together && pc == EMU_EXITED)) {
            here.doing = Doing::has_ended;
        } else if (together ? warp.waiting : pc & EMU_AT_BARRIER) {
            here.doing = Doing::waits_at_barrier;
            here.at = barrier_line(pc & ~EMU_AT_BARRIER);
        } else {
            if (!together && pc & EMU_AT_WARP_SYNC) here.doing = Doing::waits_for_warp;
            here.at = kernel_.block_lines[2 * (pc & ~(EMU_AT_WARP_SYNC | EMU_HAS_MET))];
        }
        for (Group &it : groups_) {
            if (it.doing != here.doing || !same(it.at, here.at)) continue;
            ++it.count;
            return;
        }
        groups_.push_back(here);
    }

    // A barrier ends its block; who waits at it will go on with the next.
    EmuLine barrier_line(uint32_t following) const { return kernel_.block_lines[2 * following - 1]; }

    std::string words(const Group &group) const {
        bool one = group.count == 1;
        uint32_t thread[3];
        split_index(group.first, kernel_.block, thread);
        std::string text = group.doing == Doing::has_ended ? "the other " : "";
        text +=
            one ? "thread " + triple(thread) : std::to_string(group.count) + " threads, first " + triple(thread) + ",";
        std::string at = group.at.line ? " at " + std::string(group.at.file) + ":" + std::to_string(group.at.line) : "";
        switch (group.doing) {
        case Doing::waits_at_barrier: return text + (one ? " waits" : " wait") + at;
        case Doing::waits_for_warp: return text + (one ? " waits" : " wait") + " for others of the warp" + at;
        case Doing::runs: return text + (one ? " is" : " are") + (at.empty() ? " elsewhere" : at);
        case Doing::has_ended: return text + (one ? " has ended" : " have ended");
        }
        return text;
    }

    const EmuKernel &kernel_;
    std::vector<Group> groups_;
};

Fault fault_of(const BlockContext &block, const char *kind, const Group *group) {
    const EmuKernel &kernel = *block.launch.kernel;
    Fault fault;
    fault.kind = kind;
    fault.kernel = readable_name(kernel.name);
    if (group) {
        fault.file = group->at.file;
        fault.line = group->at.line;
        split_index(group->first, kernel.block, fault.thread);
    }
    std::copy_n(block.warp(0).ctaid, 3, fault.block);
    return fault;
}

}  // namespace

void report_divergence(BlockContext &block, uint32_t) {
    Launch &launch = block.launch;
    ++launch.faults;
    uint32_t site = launch.kernel->site_count;  // the one behind all accesses
    if (!launch.first_at(site, cudaSuccess)) return;
    Groups groups(block);
    Fault fault = fault_of(block, "divergent barrier", groups.first(Doing::waits_at_barrier));
    const char *what = groups.rest_has_ended() ? "it goes on without threads that have ended: "
                                               : "not all threads of the block reach it: ";
    fault.message = fault.kind + " at " + where(fault) + ": " + what + groups.words();
    launch.report_fault(site, cudaSuccess, std::move(fault));
}

namespace {

// Who of a warp waits for whom at a .sync instruction.
struct StuckWarp {
    const Warp *warp;
    const WarpMeeting *meeting;
    uint32_t lane, waiting,
        missing;  // the first lane that waits; those that wait there with it; those that do not come
};

bool find_stuck_warp(const BlockContext &block, StuckWarp &stuck) {
    for (uint32_t w = 0; w < block.warp_count(); ++w) {
        const Warp &warp = block.warp(w);
        const WarpMeeting *meeting = block.meeting_of(w);
        uint32_t waiting = warp.done || warp.mode == EMU_UNIFORM || !meeting ? 0 : meeting->waiting(warp);
        if (!waiting) continue;
        uint32_t lane = static_cast<uint32_t>(std::countr_zero(waiting)), same_place = 0, missing = 0;
        for (uint32_t l = 0; l < 32; ++l) {
            bool is_same = waiting >> l & 1 && meeting->kind[l] == meeting->kind[lane];
            same_place |= uint32_t{is_same && meeting->number[l] == meeting->number[lane]} << l;
            missing |= uint32_t{!is_same && warp.lane_pc[l] != EMU_EXITED} << l;
        }
        stuck = {&warp, meeting, lane, same_place, missing & meeting->mask[lane]};
        return true;
    }
    return false;
}

const char *meeting_name(uint32_t kind) {
    switch (kind & EMU_MEET_FAMILY) {
    case EMU_MEET_SHUFFLE: return "shuffle";
    case EMU_MEET_VOTE: return "vote";
    case EMU_MEET_MATCH: return "match";
    case EMU_MEET_REDUCE: return "reduction";
    default: return "__syncwarp()";
    }
}

std::string at_line(const EmuLine &at) {
    return at.line ? " at " + std::string(at.file) + ":" + std::to_string(at.line) : "";
}

// "which wait at the block's barrier at f.cu:15".
std::string what_they_do(const EmuKernel &kernel, const StuckWarp &stuck) {
    uint32_t lane = static_cast<uint32_t>(std::countr_zero(stuck.missing)), pc = stuck.warp->lane_pc[lane];
    std::string waits = std::has_single_bit(stuck.missing) ? "which waits at " : "which wait at ";
    if (pc & EMU_AT_BARRIER)
        return waits + "a barrier of the block" + at_line(kernel.block_lines[2 * (pc & ~EMU_AT_BARRIER) - 1]);
    EmuLine at = kernel.block_lines[2 * (pc & ~EMU_AT_WARP_SYNC)];
    const WarpMeeting &meeting = *stuck.meeting;
    if (!(meeting.waiting(*stuck.warp) >> lane & 1)) return waits + "an instruction of the whole warp" + at_line(at);
    bool same_family = !((meeting.kind[lane] ^ meeting.kind[stuck.lane]) & EMU_MEET_FAMILY);
    return waits + "a " + meeting_name(meeting.kind[lane]) + (same_family ? " of another kind" : "") + at_line(at);
}

// Lanes of a warp wait for lanes that wait elsewhere.
std::string report_stuck_warp(const BlockContext &block, const StuckWarp &stuck) {
    const EmuKernel &kernel = *block.launch.kernel;
    Fault fault = fault_at({stuck.warp, &kernel.sites[stuck.meeting->site[stuck.lane]], stuck.lane, 0});
    fault.kind = "deadlock";
    fault.size = 0;
    fault.is_write = false;
    char mask[16];
    std::snprintf(mask, sizeof mask, "0x%08x", stuck.meeting->mask[stuck.lane]);
    bool one = std::has_single_bit(stuck.waiting);
    std::string name = meeting_name(stuck.meeting->kind[stuck.lane]);
    fault.message = fault.kind + " at " + where(fault) + ": " + lanes_in_words(stuck.waiting) +
                    (one ? " waits" : " wait") + " at this " + name + " for " + lanes_in_words(stuck.missing) + ", " +
                    what_they_do(kernel, stuck) + ", for ever: its mask " + mask +
                    " names lanes that do not come. Move it to where all of these lanes execute it, or " +
                    "name only those that do";
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

const BlockContext::MbarrierWait *first_mbarrier_wait(const BlockContext &block) {
    for (uint32_t w = 0; w < block.warp_count(); ++w) {
        if (!block.warp(w).done && block.mbarrier_wait(w)) return block.mbarrier_wait(w);
    }
    return nullptr;
}

std::string count_of(int64_t count, const char *one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string what_it_lacks(const BlockContext::MbarrierWait &wait) {
    MissingOfPhase missing = missing_of_phase(reinterpret_cast<const uint64_t *>(wait.mbarrier));
    std::string lacks;
    constexpr uint32_t too_many = 1 << 19;  // the count has wrapped
    if (missing.arrivals > too_many) {
        lacks = count_of((1 << 20) - int64_t{missing.arrivals}, "arrival") +
                " less, since more threads have arrived than it was made for";
    } else if (missing.arrivals)
        lacks = count_of(missing.arrivals, "arrival");
    if (missing.bytes > 0)
        lacks += (lacks.empty() ? "" : " and ") + count_of(missing.bytes, "byte") + " of asynchronous copies";
    if (missing.bytes < 0)
        lacks += (lacks.empty() ? "" : ", and ") + count_of(-int64_t{missing.bytes}, "byte") +
                 " have come that were not announced (expect_tx)";
    if (lacks.empty())
        return "its phase waits for nothing, so the wait is for another phase (parity) than the one that ends";
    return (missing.bytes < 0 ? "its phase lacks " : "its phase still waits for ") + lacks;
}

// All threads that have not ended wait, some of them for an mbarrier.
std::string report_mbarrier_deadlock(BlockContext &block, const BlockContext::MbarrierWait &wait) {
    const EmuKernel &kernel = *block.launch.kernel;
    uint32_t warp = 0;
    while (block.mbarrier_wait(warp) != &wait) ++warp;
    Fault fault = fault_at({&block.warp(warp), &kernel.sites[wait.site], wait.lane, wait.mbarrier});
    fault.kind = "deadlock";
    fault.size = 0;
    fault.is_write = false;
    fault.message = fault.kind + " at " + where(fault) + ": it waits for ever for an mbarrier: " + what_it_lacks(wait) +
                    ", and no other thread can go on: " + Groups(block).words();
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

// Whether warps wait for a wgmma of their warpgroup whose other warps do not wait for an mbarrier on the way to it.
bool lacks_warps(const BlockContext &block) {
    for (uint32_t rest = block.arrived_at >> BlockContext::warpgroup_barrier; rest; rest &= rest - 1) {
        uint32_t first = static_cast<uint32_t>(std::countr_zero(rest)) * warps_of_warpgroup;
        bool may_come = false;
        for (uint32_t w = first; w < std::min(first + warps_of_warpgroup, block.warp_count()); ++w)
            may_come |= block.mbarrier_wait(w) != nullptr;
        if (!may_come) return true;
    }
    return false;
}

}  // namespace

std::string report_deadlock(BlockContext &block) {
    StuckWarp stuck;
    if (find_stuck_warp(block, stuck) && stuck.missing) return report_stuck_warp(block, stuck);
    bool waits_for_product = lacks_warps(block);
    const BlockContext::MbarrierWait *wait = first_mbarrier_wait(block);
    if (wait && !waits_for_product) return report_mbarrier_deadlock(block, *wait);
    Groups groups(block);
    Fault fault =
        fault_of(block, waits_for_product ? "deadlock" : "divergent barrier", groups.first(Doing::waits_at_barrier));
    fault.message = fault.kind + " at " + where(fault) + ": it waits for ever " +
                    (waits_for_product ? "for a wgmma that not all warps of its warpgroup execute: "
                                       : "at a barrier that some threads never reach: ") +
                    groups.words();
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

std::string report_endless_loop(BlockContext &block, const std::string &reason, uint64_t most_at_once) {
    Groups groups(block);
    const Group *looping = groups.first(Doing::runs);
    if (!looping) looping = groups.first(Doing::waits_for_warp);
    if (!looping) looping = groups.first(Doing::waits_at_barrier);
    if (!looping) return readable_name(block.launch.kernel->name) + ": " + reason;  // many short blocks, maybe
    Fault fault = fault_of(block, "endless loop", looping);
    fault.message =
        fault.kind + " at " + where(fault) + ": " + reason + ", still in this loop, which may be endless or only slow";
    if (const BlockContext::MbarrierWait *wait = first_mbarrier_wait(block)) {
        EmuSite at = block.launch.kernel->sites[wait->site];
        fault.message += ". Threads wait" + (at.line ? " at line " + std::to_string(at.line) : std::string()) +
                         " for an mbarrier: " + what_it_lacks(*wait);
    }
    if (most_at_once) {
        fault.message += ". If it waits for other blocks: of the grid's " + std::to_string(block.launch.blocks()) +
                         ", only " + std::to_string(most_at_once) +
                         " fit on the device at once, and the rest cannot begin before one of them ends. "
                         "Launch fewer blocks, or use a cooperative launch, which refuses too many";
    }
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

}  // namespace emu

extern "C" __attribute__((visibility("default"))) void emu_warp_sync_fault(WarpContext *warp, uint32_t site,
                                                                           uint32_t here, uint32_t strangers,
                                                                           const uint32_t mask[32]) {
    using namespace emu;
    uint32_t lane = __builtin_ctz(strangers ? strangers : here), absent = 0;
    for (uint32_t l = 0; l < 32; ++l) {
        uint32_t pc = warp->lane_pc[l];
        bool stuck = pc != EMU_EXITED && pc & EMU_AT_BARRIER;
        absent |= uint32_t{stuck && mask[lane] >> l & 1 && !(here >> l & 1)} << l;
    }
    // Those that wait at another .sync instruction may be meant.
    if (!strangers && !absent) return;
    Launch &launch = warp->block->launch;
    ++launch.faults;
    if (!launch.first_at(site, cudaSuccess)) return;
    Fault fault = fault_at({warp, &warp->kernel->sites[site], lane, 0});
    fault.kind = "illegal warp-sync mask";
    fault.size = 0;
    fault.is_write = false;
    char value[16];
    std::snprintf(value, sizeof value, "0x%08x", mask[lane]);
    fault.message = fault.kind + " at " + where(fault) + ": ";
    if (strangers) {
        fault.message +=
            "lane " + std::to_string(lane) + " executes it with the mask " + value + ", which does not name it";
    } else {
        fault.message += "the mask " + std::string(value) + " names lane " + std::to_string(__builtin_ctz(absent)) +
                         ", which waits at a barrier of the block instead";
    }
    launch.report_fault(site, cudaSuccess, std::move(fault));
}
