#include "checks/racecheck.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "checks/block_races.h"
#include "checks/child_races.h"
#include "checks/faults.h"
#include "checks/lanes_apart.h"
#include "checks/late_stores.h"
#include "checks/task_races.h"
#include "exec/block.h"
#include "exec/child_launches.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

RaceCheck::RaceCheck(Launch &launch)
    : global(*launch.memory),
      published((launch.threads_per_block() + 31) / 32),
      follows_sites(launch.kernel->site_count < Trace::max_sites),
      follows_blocks(launch.blocks() <= Trace::max_blocks),
      launch_(launch),
      noted_conflicts_(launch.kernel->site_count),
      read_constants_(launch.kernel->site_count),
      noted_strong_(launch.kernel->site_count),
      noted_visits_(launch.kernel->site_count),
      summed_with_(launch.kernel->site_count) {}

bool RaceCheck::is_first_constant(uint32_t site) {
    bool is_first = !read_constants_[site];
    read_constants_[site] = true;
    return is_first;
}

void RaceCheck::note_meeting_host(uint64_t address) {
    if (launch_.meets_host) return;
    const Allocation *found = launch_.memory->find(address);
    launch_.meets_host = found && shared_with_host(found->kind);
}

std::unique_ptr<BlockObserver> RaceCheck::watch(BlockContext &block) { return watch_block(*this, block); }

void RaceCheck::meet(const Meeting &meeting) {
    const EmuSite &site = launch_.kernel->sites[meeting.site];
    bool is_shared = home_of(meeting.warp, meeting.address) != nullptr;
    uint32_t first = meeting.site, second = meeting.other.site;
    bool in_one_warp =
        meeting.other.block == meeting.block && meeting.other.thread / 32 == meeting.warp.warp_id && !meeting.in_flight;
    Race &race = races_[{std::min(first, second), std::max(first, second), is_shared}];
    if (race.reported) {
        ++race.count;
        return;
    }
    if (!race.count) {
        race.fault = explanation_of(meeting, is_shared ? "race on shared memory" : "race on global memory",
                                    missing_between(meeting));
        race.sites[0] = first;
        race.sites[1] = second;
        race.is_between_blocks = !is_shared && meeting.block != meeting.other.block;
    }
    if (!race.count && in_one_warp) note_meeting_lanes(launch_.kernel->name);
    ++race.count;
    bool sets_flag =
        meeting.other_writes && site.order & launch_.kernel->sites[meeting.other.site].order & EMU_CONSTANT;
    Pending pending{&race, meeting.address, site.size, sets_flag, {}};
    if (site.kind == EMU_LOAD || site.order & EMU_LATER || meeting.in_flight) {
        pending.size = 0;
    } else {
        std::memcpy(pending.before, reinterpret_cast<const void *>(meeting.address), site.size);
    }
    pending_.push_back(pending);
}

void RaceCheck::meet_strong(const Meeting &meeting) {
    uint32_t written = meeting.other.site;
    // Whoever looks at one run is not told: most programs that do so rely on nothing else.
    if (noted_strong_[written] || observe_settings().tell_silent) return;
    noted_strong_[written] = true;
    const std::string &kernel = launch_.kernel->name;
    if (meeting.other.block != meeting.block) {
        note_racing_store(kernel, written);
        if (!lacks_fence(meeting.other, meeting.other.clock + 1)) {
            // A flag: whoever looks at it does so to wait.
            if (launch_.kernel->sites[written].order & EMU_CONSTANT) return;
            return report().add_fault(
                explanation_of(meeting, "unordered blocks",
                               "nothing makes it wait for that block: leave this to the block that is the last one "
                               "done, by an atomic count behind a __threadfence(), or to a second kernel"));
        }
        return report().add_fault(
            explanation_of(meeting, "access without a fence",
                           "no __threadfence() behind that write lets others see it before what its thread writes "
                           "next"));
    }
    note_meeting_lanes(kernel);
    bool is_volatile = launch_.kernel->sites[written].order & EMU_SYSTEM;
    report().add_fault(explanation_of(
        meeting, "unordered lanes",
        std::string("there is no __syncwarp() between them: ") + (is_volatile ? "volatile does" : "such accesses do") +
            " not order the lanes of a warp, which have had no common pace since compute capability 7.0"));
}

void RaceCheck::conflict(const WarpContext &warp, uint32_t index, uint32_t lane, uint32_t other, uint64_t address) {
    noted_conflicts_[index] = true;
    bool is_shared = address - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes;
    Location location = is_shared ? shared_location(warp, address) : global_location(launch_, address);
    Fault fault = fault_at({&warp, &launch_.kernel->sites[index], lane, address});
    fault.kind = "conflicting stores";
    fault.allocation = location.name;
    uint32_t thread[3];
    split_index(warp.warp_id * 32 + other, launch_.kernel->block, thread);
    fault.message = fault.kind + " at " + where(fault) + ": it writes " + location.text + ", and thread " +
                    triple(thread) +
                    " of the same warp stores another value there by the same instruction; only one of them stays";
    report().add_fault(std::move(fault));
}

void RaceCheck::outlive(const Visit &visit) {
    if (noted_visits_[visit.site]) return;
    noted_visits_[visit.site] = true;
    const WarpContext *home = home_of(*visit.warp, visit.address);
    Location location = shared_location(*home, visit.address);
    Fault fault = fault_at({visit.warp, &launch_.kernel->sites[visit.site], visit.lane, visit.address});
    fault.kind = "race on shared memory";
    fault.allocation = location.name;
    fault.message = fault.kind + " at " + where(fault) + ": it " + (fault.is_write ? "writes" : "reads") + " " +
                    location.text + " of block " + triple(home->ctaid) +
                    ", which may have ended: nothing makes that block wait, as cluster.sync() before its end would";
    report().add_fault(std::move(fault));
}

void RaceCheck::decide() {
    for (const Pending &it : pending_) {
        bool changed = !it.size || std::memcmp(it.before, reinterpret_cast<const void *>(it.address), it.size) != 0;
        if (it.race->reported) continue;
        if (!changed) {
            note_silent(*it.race, it.sets_flag);
            continue;
        }
        tell(*it.race);
    }
    pending_.clear();
    keep_silent();
}

void RaceCheck::note_store(const Cell &cell, const Trace &store, uint64_t address, uint32_t size) {
    if (observe_settings().tell_silent || silent_.size() >= max_silent) return;
    const Trace *change = last_change(cell);
    Trace before = change ? *change : cell.write;
    // Another lane may be about to store there, too.
    bool is_own = cell.write.site == store.site && cell.write.block == store.block && cell.write.clock == store.clock;
    for (size_t i = 0; is_own && i < stored_.size(); ++i) {
        if (stored_[i].cell == &cell) before = stored_[i].before;
    }
    Stored &stored = stored_.emplace_back(Stored{&cell, before, store, address, size, {}});
    std::memcpy(stored.bytes, reinterpret_cast<const void *>(address), size);
}

void RaceCheck::keep_silent() {
    for (const Stored &it : stored_) {
        if (std::memcmp(it.bytes, reinterpret_cast<const void *>(it.address), it.size) == 0)
            silent_[it.cell] = {it.now, it.before};
    }
    stored_.clear();
}

const Trace *RaceCheck::last_change(const Cell &cell) const {
    auto found = silent_.find(&cell);
    bool is_last = found != silent_.end() && std::memcmp(&found->second.store, &cell.write, sizeof cell.write) == 0;
    return is_last ? &found->second.change : nullptr;
}

void RaceCheck::tell(Race &race) {
    race.reported = true;
    report().add_fault(race.fault);
    for (uint32_t site : race.sites) {
        if (race.is_between_blocks && can_be_late(launch_.kernel->sites[site]))
            note_racing_store(launch_.kernel->name, site);
    }
}

// With other data the store may change what is there; those who set a flag are noted only.
void RaceCheck::note_silent(Race &race, bool sets_flag) {
    if (!observe_settings().tell_silent || (sets_flag && race.noted)) {
        --race.count;
        return;
    }
    Fault &fault = race.fault;
    if (sets_flag) {
        Fault note = fault;
        note.kind = "one constant stored by several threads";
        note.message = note.kind + fault.message.substr(fault.kind.size()) + "; both store the same";
        report().add_fault(note);
        race.noted = true;
        --race.count;
        return;
    }
    fault.message += "; it is there by chance already: with these data the store changes nothing";
    tell(race);
}

bool RaceCheck::lacks_fence(const Trace &other, Clock from) const {
    auto found = unfenced_.find(other.block);
    return found != unfenced_.end() && found->second[other.thread / 32] >= from;
}

std::string RaceCheck::missing_between(const Meeting &meeting) const {
    if (!meeting.missing.empty()) return meeting.missing;
    const EmuSite &site = launch_.kernel->sites[meeting.site], &other = launch_.kernel->sites[meeting.other.site];
    if (meeting.in_flight) {
        return "the copy has not been waited for (by __pipeline_wait_prior, cp.async.wait_group, or a wait on its "
               "pipeline or mbarrier, and then a barrier where other threads use it)";
    }
    if (meeting.other.block == meeting.block) {
        bool one_warp = meeting.other.thread / 32 == meeting.warp.warp_id;
        return one_warp ? "there is no __syncthreads() or __syncwarp() between them"
                        : "there is no barrier between them";
    }
    if (meeting.other.strong && site.order & EMU_STRONG && (site.order | other.order) & EMU_BLOCK)
        return "one of the two is atomic for threads of its own block only: use the function without _block";
    if (home_of(meeting.warp, meeting.address)) return "nothing orders the two, as cluster.sync() would";
    if (meeting.other_writes && lacks_fence(meeting.other, meeting.other.clock))
        return "nothing orders the two: no __threadfence() stands between the write and the atomic behind it";
    return "nothing orders the two";
}

Fault RaceCheck::explanation_of(const Meeting &meeting, std::string kind, const std::string &missing) const {
    const EmuKernel &kernel = *launch_.kernel;
    const EmuSite &site = kernel.sites[meeting.site], &other_site = kernel.sites[meeting.other.site];
    const WarpContext *home = home_of(meeting.warp, meeting.address);
    Location location = home ? shared_location(*home, meeting.address) : global_location(launch_, meeting.address);
    if (home && home->block != meeting.warp.block) location.text += " of block " + triple(home->ctaid);
    Fault fault = fault_at({&meeting.warp, &site, meeting.lane, meeting.address});
    fault.kind = std::move(kind);
    fault.allocation = location.name;
    Party &other = fault.other;
    other.exists = true;
    other.file = other_site.file;
    other.line = other_site.line;
    other.is_write = meeting.other_writes;
    split_index(meeting.other.thread, kernel.block, other.thread);
    split_index(meeting.other.block, launch_.grid, other.block);
    bool one_block = meeting.other.block == meeting.block;
    std::string doer =
        "thread " + triple(other.thread) + (one_block ? " of the same block" : " of block " + triple(other.block));
    if (one_block && meeting.other.thread == meeting.warp.warp_id * 32 + meeting.lane) doer = "the same thread";
    std::string does = meeting.in_flight ? " copies asynchronously" : other.is_write ? " writes" : " reads";
    std::string source = other.line ? " at " + std::string(other.file) + ":" + std::to_string(other.line) : "";
    fault.message = fault.kind + " at " + where(fault) + ": it " + (fault.is_write ? "writes" : "reads") + " " +
                    location.text + ", which " + doer + does + source + ", and " + missing;
    return fault;
}

void RaceCheck::finish(Launch &launch) {
    decide();
    CellPages pages = global.take_pages();
    check_against_ancestors(launch, pages);
    if (launch.children) {
        launch.children->accesses = std::make_shared<ParentAccesses>(
            ParentAccesses{launch.kernel, {launch.grid[0], launch.grid[1], launch.grid[2]}, copy_of(pages), published});
    }
    task_races().add(launch, std::move(pages));
    for (auto &[sites, race] : races_) {
        if (!race.reported) continue;
        report().count_faults(race.count);
        if (race.count > 1) {
            race.fault.count = race.count - 1;
            report().add_fault(race.fault);
        }
    }
    for (const std::string &allocation : global.unchecked()) {
        report().add_unchecked("races on " + allocation +
                               ": it is too large for the check, which followed its first part only");
    }
    if (!follows_sites)
        report().add_unchecked("races in " + readable_name(launch_.kernel->name) + ": too many accesses in its code");
    if (!follows_blocks)
        report().add_unchecked("races in " + readable_name(launch_.kernel->name) + ": its grid is too large");
    if (published.exhausted()) {
        report().add_unchecked("races between blocks of " + readable_name(launch_.kernel->name) +
                               ": too many fences and atomics");
    }
}

}  // namespace emu
