#include "checks/racecheck.h"

#include <algorithm>
#include <cstring>

#include "checks/faults.h"
#include "checks/late_stores.h"
#include "checks/task_races.h"
#include "exec/block.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

// What the race check knows of the block that runs in one context.
class BlockRaces : public BlockObserver {
  public:
    BlockRaces(RaceCheck &check, const BlockContext &block)
        : check_(check),
          clocks_(block.launch.threads_per_block()),
          shared_((block.warp(0).shared_bytes + 3) / 4),
          kernel_(*block.launch.kernel),
          met_(block.warp_count()) {}

    void start(uint64_t number) override {
        check_.settle();
        number_ = number;
        clocks_.start();
        shared_.clear();
        std::fill(in_flight_.begin(), in_flight_.end(), false);
        std::fill(met_.begin(), met_.end(), 0);
    }

    void finish() override { check_.settle(); }

    void warp_sync(const WarpContext &warp, uint32_t lanes) override {
        // Of many shuffles in a row one counts: a warp's clock has an end.
        if (met_[warp.warp_id] == lanes) return;
        check_.settle();
        clocks_.warp_sync(warp.warp_id, lanes);
        met_[warp.warp_id] = lanes;
    }

    void arrive(const WarpContext &warp, uint32_t barrier, uint32_t lanes, bool waits) override {
        check_.settle();
        clocks_.arrive(warp.warp_id, barrier, lanes, waits);
    }

    void release(uint32_t barrier) override { clocks_.release(barrier); }

    void fence(const WarpContext &warp, bool of_device) override {
        if (of_device) clocks_.fence(warp.warp_id);
    }

    void allocate(uint64_t address, uint64_t size) override {
        check_.settle();
        check_.global.forget(address, size);
    }

    void mbarrier_arrive(const WarpContext &warp, uint32_t lanes, const uint64_t *address) override {
        check_.settle();
        pass_on(warp, lanes, address, false, true);
    }

    void mbarrier_pass(const WarpContext &warp, uint32_t lanes, const uint64_t *address) override {
        met_[warp.warp_id] = 0;
        learn(warp, lanes, address);
    }

    // What the warps of the group have read for the products, and did before, comes before what this one does next.
    void warpgroup_wait(const WarpContext &warp, bool ends) override {
        check_.settle();
        uint32_t first = warp.warp_id / warps_of_warpgroup * warps_of_warpgroup;
        uint64_t address = reinterpret_cast<uint64_t>(this) + first;
        for (uint32_t w = first; ends && w < first + warps_of_warpgroup && w < met_.size(); ++w) {
            clocks_.pass_on(w, address);
            clocks_.tick(w);
        }
        met_[warp.warp_id] = 0;
        clocks_.learn(warp.warp_id, ~0u, address);
    }

    // The bytes are there: whoever is ordered behind the wait may use them.
    void land(const WarpContext &warp, uint32_t lane, const LandedCopy &copy, bool waited) override {
        check_.settle();
        uint64_t offset = copy.to - reinterpret_cast<uint64_t>(warp.shared), end = offset + copy.size;
        if (in_flight_.empty() || copy.to % copy.size || offset >= warp.shared_bytes || end > warp.shared_bytes) return;
        std::fill(in_flight_.begin() + offset / 4, in_flight_.begin() + end / 4, false);
        Clock now = clocks_.now(warp.warp_id);
        if (!waited || now > Trace::max_clock) return;
        uint32_t thread = warp.warp_id * 32 + lane;
        shared_.each(offset, copy.size, [&](Cell &cell) {
            if (!cell.write.empty() && cell.write.thread == thread && kernel_.sites[cell.write.site].order & EMU_LATER) {
                cell.write.clock = now;
            }
            return false;
        });
        Cells *read = copy.from ? check_.global.page_of(copy.from) : nullptr;
        if (!read || copy.from % copy.size) return;
        Trace trace = trace_of(warp, copy.load_site);
        trace.thread = thread;
        read->each(copy.from % GlobalCells::page_bytes, copy.size,
                   [&](Cell &cell) { return touch({cell, trace, false, false, warp, copy.load_site, lane, copy.from}); });
    }

    // A copy is one thread's. What its mbarrier counts is known to whoever waits there, whenever the thread itself has arrived.
    void bulk(const WarpContext &warp, uint32_t lane, const BulkAccess &it) override {
        if (it.stage == BulkStage::shared_write_ends) {
            check_.settle();
            uint64_t offset = it.address - reinterpret_cast<uint64_t>(warp.shared);
            if (in_flight_.empty() || offset >= warp.shared_bytes || it.size > warp.shared_bytes - offset) return;
            std::fill_n(in_flight_.begin() + static_cast<long>(offset / 4), it.size / 4, false);
            uint64_t mbarrier[32];
            mbarrier[lane] = it.mbarrier;
            return pass_on(warp, 1u << lane, mbarrier, false, true);
        }
        uint32_t width = kernel_.sites[it.site].size;
        for (uint32_t begin = 0; begin < it.size; begin += width) {
            uint64_t address[32];
            address[lane] = it.address + begin;
            access(warp, it.site, 1u << lane, address);
        }
    }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        check_.settle();
        met_[warp.warp_id] = 0;
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_PARAM) return;
        // Only other launches and copies write constant memory: one access tells enough.
        if (site.space == EMU_CONST && !check_.is_first_constant(index)) return;
        bool strong = site.order & EMU_STRONG, writes = site.kind != EMU_LOAD;
        if (strong && site.kind != EMU_STORE) learn(warp, lanes, address);
        if (site.order & EMU_SYSTEM) check_.note_meeting_host(address[__builtin_ctz(lanes)]);
        // What cannot be reported from the accesses of others is not looked at.
        if (clocks_.now(warp.warp_id) > Trace::max_clock || !check_.follows_sites || !check_.follows_blocks) return;
        Trace trace = trace_of(warp, index);
        bool copies = site.kind == EMU_STORE && site.order & EMU_LATER;
        if (copies && in_flight_.empty()) in_flight_.resize((warp.shared_bytes + 3) / 4);
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            uint64_t at = address[lane];
            if (at % site.size) continue;
            trace.thread = warp.warp_id * 32 + lane;
            Cells *cells = &shared_;
            uint64_t offset = at - shared;
            bool in_flight = false;
            if (offset >= warp.shared_bytes || site.size > warp.shared_bytes - offset) {
                if (at - local < (kernel_.local_bytes + warp.stack_bytes) * 32) continue;
                cells = check_.global.page_of(at);
                if (!cells) continue;
                offset = at % GlobalCells::page_bytes;
            } else if (!in_flight_.empty()) {
                in_flight = is_in_flight(offset, site.size);
                if (copies) std::fill_n(in_flight_.begin() + offset / 4, site.size / 4, true);
            }
            cells->each(offset, site.size,
                        [&](Cell &cell) { return touch({cell, trace, writes, in_flight, warp, index, lane, at}); });
        }
        if (strong && writes) pass_on(warp, lanes, address, site.order & EMU_RELEASE, site.order & EMU_BLOCK);
    }

    void store(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address, const StoredValues &stored) override {
        if (check_.is_noted(index)) return;
        uint64_t last = 0;
        bool rises = true;
        for (uint32_t rest = lanes; rest && rises; rest &= rest - 1) {
            uint64_t at = address[__builtin_ctz(rest)];
            rises = at > last;
            last = at;
        }
        if (rises) return;
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            for (uint32_t later = rest & (rest - 1); later; later &= later - 1) {
                uint32_t other = __builtin_ctz(later);
                if (address[lane] == address[other] && stored.differ(lane, other)) {
                    return check_.conflict(warp, index, other, lane, address[lane]);
                }
            }
        }
    }

  private:
    bool comes_after(const Trace &then, const WarpContext &warp, uint32_t lane) const {
        if (then.block == number_) return clocks_.knows(warp.warp_id, lane, then.thread, then.clock);
        return check_.published.known(then.block, then.thread / 32, then.clock, clocks_.seen(warp.warp_id));
    }

    Trace trace_of(const WarpContext &warp, uint32_t site) const {
        Trace trace{};
        trace.clock = clocks_.now(warp.warp_id);
        trace.site = site;
        trace.block = number_;
        trace.strong = (kernel_.sites[site].order & (EMU_STRONG | EMU_GUESS)) != 0;
        return trace;
    }

    // Whether a copy into one of these bytes has not landed.
    bool is_in_flight(uint64_t offset, uint32_t size) const {
        auto first = in_flight_.begin() + offset / 4;
        return std::find(first, first + (size + 3) / 4, true) != first + (size + 3) / 4;
    }

    struct Touch {
        Cell &cell;
        Trace now;
        bool writes, in_flight;
        const WarpContext &warp;
        uint32_t site, lane;
        uint64_t at;
    };

    // True for a race, which is reported: once for each access of a lane is enough.
    bool touch(const Touch &touch) {
        const auto &[cell, now, writes, in_flight, warp, site, lane, at] = touch;
        const Trace *race = nullptr;
        auto meets = [&](const Trace &then) {
            if (&then == &cell.write && in_flight && kernel_.sites[then.site].order & EMU_LATER) return !then.empty();
            if (then.empty() || (then.strong && now.strong && meets_in_scope(then, now)) || comes_after(then, warp, lane)) return false;
            // Which lane of a warp has the last word is not known on hardware either, but one of them has it.
            return !(&then == &cell.write && writes && then.site == now.site && then.block == now.block &&
                     then.thread / 32 == now.thread / 32);
        };
        if (meets(cell.write)) race = &cell.write;
        else if (writes && meets(cell.read)) race = &cell.read;
        else if (writes && meets(cell.other)) race = &cell.other;
        if (race) check_.meet({warp, site, lane, at, number_, *race, race == &cell.write, race == &cell.write && in_flight});
        if (writes) {
            cell.write = now;
            cell.read = cell.other = {};
        } else if (cell.read.empty() || of_one_warp(cell.read, now) || comes_after(cell.read, warp, lane)) {
            cell.read = now;
        } else {
            cell.other = now;
        }
        return race != nullptr;
    }

    // Whether the scope of each of two strong accesses holds the other's thread.
    bool meets_in_scope(const Trace &one, const Trace &other) const {
        return one.block == other.block || !((kernel_.sites[one.site].order | kernel_.sites[other.site].order) & EMU_BLOCK);
    }

    static bool of_one_warp(const Trace &a, const Trace &b) { return a.block == b.block && a.thread / 32 == b.thread / 32; }

    template <class Visit>
    void each_address(uint32_t lanes, const uint64_t *address, Visit visit) {
        for (uint64_t last = 0; lanes; lanes &= lanes - 1) {
            uint64_t at = address[__builtin_ctz(lanes)];
            if (at != last) visit(at);
            last = at;
        }
    }

    void learn(const WarpContext &warp, uint32_t lanes, const uint64_t *address) {
        each_address(lanes, address, [&](uint64_t at) {
            clocks_.learn(warp.warp_id, lanes, at);
            clocks_.see(warp.warp_id, check_.published.learn(at));
        });
    }

    void pass_on(const WarpContext &warp, uint32_t lanes, const uint64_t *address, bool releases, bool within_block) {
        uint32_t id = warp.warp_id;
        const Clock *upto = releases ? clocks_.all(id) : clocks_.fenced(id);
        each_address(lanes, address, [&](uint64_t at) {
            clocks_.pass_on(id, at);
            if (within_block || at - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes) return;
            check_.published.pass_on(number_, upto, clocks_.seen(id), at);
        });
        clocks_.tick(id);
    }

    RaceCheck &check_;
    BlockClocks clocks_;
    Cells shared_;
    std::vector<bool> in_flight_;  // of the words of shared memory: a copy into it has not landed. Empty until there is a copy
    const EmuKernel &kernel_;
    std::vector<uint32_t> met_;  // of each warp the lanes that have met since its last access
    uint64_t number_ = 0;
};

}  // namespace

RaceCheck::RaceCheck(Launch &launch)
    : global(*launch.memory),
      published((launch.threads_per_block() + 31) / 32),
      follows_sites(launch.kernel->site_count < Trace::max_sites),
      follows_blocks(launch.blocks() <= Trace::max_blocks),
      launch_(launch),
      noted_conflicts_(launch.kernel->site_count),
      read_constants_(launch.kernel->site_count) {}

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

std::unique_ptr<BlockObserver> RaceCheck::watch(BlockContext &block) { return std::make_unique<BlockRaces>(*this, block); }

void RaceCheck::meet(const Meeting &meeting) {
    const EmuSite &site = launch_.kernel->sites[meeting.site];
    bool is_shared = meeting.address - reinterpret_cast<uint64_t>(meeting.warp.shared) < meeting.warp.shared_bytes;
    uint32_t first = meeting.site, second = meeting.other.site;
    Race &race = races_[{std::min(first, second), std::max(first, second), is_shared}];
    if (race.reported) {
        ++race.count;
        return;
    }
    if (!race.count) {
        race.fault = explanation_of(meeting);
        race.sites[0] = first;
        race.sites[1] = second;
        race.is_between_blocks = !is_shared && meeting.block != meeting.other.block;
    }
    ++race.count;
    bool sets_flag = meeting.other_writes && site.order & launch_.kernel->sites[meeting.other.site].order & EMU_CONSTANT;
    Pending pending{&race, meeting.address, site.size, sets_flag, {}};
    if (site.kind == EMU_LOAD || site.order & EMU_LATER || meeting.in_flight) {
        pending.size = 0;
    } else {
        std::memcpy(pending.before, reinterpret_cast<const void *>(meeting.address), site.size);
    }
    pending_.push_back(pending);
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
    fault.message = fault.kind + " at " + where(fault) + ": it writes " + location.text + ", and thread " + triple(thread) +
                    " of the same warp stores another value there by the same instruction; only one of them stays";
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
}

void RaceCheck::tell(Race &race) {
    race.reported = true;
    report().add_fault(race.fault);
    for (uint32_t site : race.sites) {
        if (race.is_between_blocks && can_be_late(launch_.kernel->sites[site])) note_racing_store(launch_.kernel->name, site);
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

Fault RaceCheck::explanation_of(const Meeting &meeting) const {
    const EmuKernel &kernel = *launch_.kernel;
    const EmuSite &site = kernel.sites[meeting.site], &other_site = kernel.sites[meeting.other.site];
    bool is_shared = meeting.address - reinterpret_cast<uint64_t>(meeting.warp.shared) < meeting.warp.shared_bytes;
    Location location = is_shared ? shared_location(meeting.warp, meeting.address) : global_location(launch_, meeting.address);
    Fault fault = fault_at({&meeting.warp, &site, meeting.lane, meeting.address});
    fault.kind = is_shared ? "race on shared memory" : "race on global memory";
    fault.allocation = location.name;
    Party &other = fault.other;
    other.exists = true;
    other.file = other_site.file;
    other.line = other_site.line;
    other.is_write = meeting.other_writes;
    split_index(meeting.other.thread, kernel.block, other.thread);
    split_index(meeting.other.block, launch_.grid, other.block);
    bool one_block = meeting.other.block == meeting.block;
    bool one_warp = one_block && meeting.other.thread / 32 == meeting.warp.warp_id;
    std::string doer = "thread " + triple(other.thread) + (one_block ? " of the same block" : " of block " + triple(other.block));
    if (one_warp && meeting.other.thread % 32 == meeting.lane) doer = "the same thread";
    std::string does = meeting.in_flight ? " copies asynchronously" : other.is_write ? " writes" : " reads";
    std::string source = other.line ? " at " + std::string(other.file) + ":" + std::to_string(other.line) : "";
    bool in_no_scope = !one_block && meeting.other.strong && site.order & EMU_STRONG && (site.order | other_site.order) & EMU_BLOCK;
    std::string missing = meeting.in_flight ? "the copy has not been waited for (by __pipeline_wait_prior, cp.async.wait_group, or a "
                                              "wait on its pipeline or mbarrier, and then a barrier where other threads use it)"
                          : in_no_scope     ? "one of the two is atomic for threads of its own block only: use the function without _block"
                          : !one_block      ? "nothing orders the two"
                          : one_warp        ? "there is no __syncthreads() or __syncwarp() between them"
                                            : "there is no barrier between them";
    fault.message = fault.kind + " at " + where(fault) + ": it " + (fault.is_write ? "writes" : "reads") + " " + location.text +
                    ", which " + doer + does + source + ", and " + missing;
    return fault;
}

void RaceCheck::finish(Launch &launch) {
    decide();
    task_races().add(launch, global.take_pages());
    for (auto &[sites, race] : races_) {
        if (!race.reported) continue;
        report().count_faults(race.count);
        if (race.count > 1) {
            race.fault.count = race.count - 1;
            report().add_fault(race.fault);
        }
    }
    for (const std::string &allocation : global.unchecked()) {
        report().add_unchecked("races on " + allocation + ": it is too large for the check, which followed its first part only");
    }
    if (!follows_sites) report().add_unchecked("races in " + readable_name(launch_.kernel->name) + ": too many accesses in its code");
    if (!follows_blocks) report().add_unchecked("races in " + readable_name(launch_.kernel->name) + ": its grid is too large");
    if (published.exhausted()) {
        report().add_unchecked("races between blocks of " + readable_name(launch_.kernel->name) + ": too many fences and atomics");
    }
}

}  // namespace emu
