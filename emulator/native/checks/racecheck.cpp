#include "checks/racecheck.h"

#include <algorithm>
#include <cstring>

#include "checks/faults.h"
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
          kernel_(*block.launch.kernel) {}

    void start(uint64_t number) override {
        check_.settle();
        number_ = number;
        clocks_.start();
        shared_.clear();
    }

    void finish() override { check_.settle(); }

    void warp_sync(const WarpContext &warp, uint32_t lanes) override {
        check_.settle();
        clocks_.warp_sync(warp.warp_id, lanes);
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
        pass_on(warp, lanes, address, false);
    }

    void mbarrier_pass(const WarpContext &warp, uint32_t lanes, const uint64_t *address) override { learn(warp, lanes, address); }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        check_.settle();
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_CONST || site.space == EMU_PARAM) return;
        bool strong = site.order & EMU_STRONG, writes = site.kind != EMU_LOAD;
        if (strong && site.kind != EMU_STORE) learn(warp, lanes, address);
        Trace trace{};
        Clock now = clocks_.now(warp.warp_id);
        // What cannot be reported from the accesses of others is not looked at.
        if (now > Trace::max_clock || !check_.follows_sites || !check_.follows_blocks) return;
        trace.clock = now;
        trace.site = index;
        trace.block = number_;
        trace.strong = strong || site.order & EMU_GUESS;
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            uint64_t at = address[lane];
            if (at % site.size) continue;
            trace.thread = warp.warp_id * 32 + lane;
            Cells *cells = &shared_;
            uint64_t offset = at - shared;
            if (offset >= warp.shared_bytes || site.size > warp.shared_bytes - offset) {
                if (at - local < (kernel_.local_bytes + warp.stack_bytes) * 32) continue;
                cells = check_.global.page_of(at);
                if (!cells) continue;
                offset = at % GlobalCells::page_bytes;
            }
            cells->each(offset, site.size, [&](Cell &cell) { return touch(cell, trace, writes, warp, index, lane, at); });
        }
        if (strong && writes) pass_on(warp, lanes, address, site.order & EMU_RELEASE);
    }

  private:
    bool comes_after(const Trace &then, const WarpContext &warp, uint32_t lane) const {
        if (then.block == number_) return clocks_.knows(warp.warp_id, lane, then.thread, then.clock);
        return check_.published.known(then.block, then.thread / 32, then.clock, clocks_.seen(warp.warp_id));
    }

    // True for a race, which is reported: once for each access of a lane is enough.
    bool touch(Cell &cell, Trace now, bool writes, const WarpContext &warp, uint32_t site, uint32_t lane, uint64_t at) {
        const Trace *race = nullptr;
        auto meets = [&](const Trace &then) {
            if (then.empty() || (then.strong && now.strong) || comes_after(then, warp, lane)) return false;
            // Which lane of a warp has the last word is not known on hardware either, but one of them has it.
            return !(&then == &cell.write && writes && then.site == now.site && then.block == now.block &&
                     then.thread / 32 == now.thread / 32);
        };
        if (meets(cell.write)) race = &cell.write;
        else if (writes && meets(cell.read)) race = &cell.read;
        else if (writes && meets(cell.other)) race = &cell.other;
        if (race) check_.meet({warp, site, lane, at, number_, *race, race == &cell.write});
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

    void pass_on(const WarpContext &warp, uint32_t lanes, const uint64_t *address, bool releases) {
        uint32_t id = warp.warp_id;
        const Clock *upto = releases ? clocks_.all(id) : clocks_.fenced(id);
        each_address(lanes, address, [&](uint64_t at) {
            clocks_.pass_on(id, at);
            if (at - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes) return;
            check_.published.pass_on(number_, upto, clocks_.seen(id), at);
        });
        clocks_.tick(id);
    }

    RaceCheck &check_;
    BlockClocks clocks_;
    Cells shared_;
    const EmuKernel &kernel_;
    uint64_t number_ = 0;
};

}  // namespace

RaceCheck::RaceCheck(Launch &launch)
    : global(*launch.memory),
      published((launch.threads_per_block() + 31) / 32),
      follows_sites(launch.kernel->site_count < Trace::max_sites),
      follows_blocks(launch.blocks() <= Trace::max_blocks),
      launch_(launch) {}

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
    if (!race.count) race.fault = explanation_of(meeting);
    ++race.count;
    Pending pending{&race, meeting.address, site.size, {}};
    if (site.kind == EMU_LOAD || site.order & EMU_LATER) {
        pending.size = 0;
    } else {
        std::memcpy(pending.before, reinterpret_cast<const void *>(meeting.address), site.size);
    }
    pending_.push_back(pending);
}

void RaceCheck::decide() {
    for (const Pending &it : pending_) {
        bool changed = !it.size || std::memcmp(it.before, reinterpret_cast<const void *>(it.address), it.size) != 0;
        if (it.race->reported) continue;
        if (!changed) {
            --it.race->count;
            continue;
        }
        it.race->reported = true;
        report().add_fault(it.race->fault);
    }
    pending_.clear();
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
    std::string source = other.line ? " at " + std::string(other.file) + ":" + std::to_string(other.line) : "";
    std::string missing = !one_block             ? "nothing orders the two"
                          : one_warp             ? "there is no __syncthreads() or __syncwarp() between them"
                                                 : "there is no barrier between them";
    fault.message = fault.kind + " at " + where(fault) + ": it " + (fault.is_write ? "writes" : "reads") + " " + location.text +
                    ", which " + doer + (other.is_write ? " writes" : " reads") + source + ", and " + missing;
    return fault;
}

void RaceCheck::finish(Launch &) {
    decide();
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
