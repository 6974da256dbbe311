#include "report/thread_locations.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "checks/faults.h"
#include "exec/block.h"
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
        std::stable_sort(groups_.begin(), groups_.end(), [](const Group &a, const Group &b) { return a.doing < b.doing; });
    }

    const Group *first(Doing doing) const {
        auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group &it) { return it.doing == doing; });
        return found == groups_.end() ? nullptr : &*found;
    }

    // Whether all threads that have not ended wait at one source line.
    bool rest_has_ended() const {
        return groups_.size() == 2 && groups_[0].doing == Doing::waits_at_barrier && groups_[1].doing == Doing::has_ended;
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
            here.at = kernel_.block_lines[2 * (pc & ~EMU_AT_WARP_SYNC)];
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
        text += one ? "thread " + triple(thread) : std::to_string(group.count) + " threads, first " + triple(thread) + ",";
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

std::string report_deadlock(BlockContext &block) {
    Groups groups(block);
    Fault fault = fault_of(block, "divergent barrier", groups.first(Doing::waits_at_barrier));
    fault.message = fault.kind + " at " + where(fault) + ": it waits for ever at a barrier that some threads never reach: " +
                    groups.words();
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

std::string report_endless_loop(BlockContext &block, const std::string &reason) {
    Groups groups(block);
    const Group *looping = groups.first(Doing::runs);
    if (!looping) looping = groups.first(Doing::waits_for_warp);
    if (!looping) looping = groups.first(Doing::waits_at_barrier);
    if (!looping) return readable_name(block.launch.kernel->name) + ": " + reason;  // many short blocks, maybe
    Fault fault = fault_of(block, "endless loop", looping);
    fault.message = fault.kind + " at " + where(fault) + ": " + reason + ", still in this loop, which may be endless or only slow";
    std::string message = fault.message;
    ++block.launch.faults;
    report().add_fault(std::move(fault));
    return message;
}

}  // namespace emu

extern "C" __attribute__((visibility("default"))) void emu_warp_sync_fault(WarpContext *warp, uint32_t site, uint32_t here,
                                                                           uint32_t strangers, const uint32_t mask[32]) {
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
        fault.message += "lane " + std::to_string(lane) + " executes it with the mask " + value + ", which does not name it";
    } else {
        fault.message += "the mask " + std::string(value) + " names lane " + std::to_string(__builtin_ctz(absent)) +
                         ", which waits at a barrier of the block instead";
    }
    launch.report_fault(site, cudaSuccess, std::move(fault));
}
