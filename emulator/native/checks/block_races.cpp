#include "checks/block_races.h"

#include <algorithm>
#include <cstring>

#include "checks/async_fences.h"
#include "checks/map_fences.h"
#include "checks/met_accesses.h"
#include "exec/block.h"
#include "exec/child_launches.h"
#include "exec/cluster.h"
#include "exec/scheduler.h"

namespace emu {

namespace {

bool is_own_shared(const WarpContext &warp, uint64_t address) {
    return address - reinterpret_cast<uint64_t>(warp.shared) < warp.shared_bytes;
}

// What the race check knows of the block that runs in one context.
class BlockRaces : public BlockObserver {
public:
    BlockRaces(RaceCheck &check, const BlockContext &block)
        : check_(check),
          clocks_(block.launch.threads_per_block()),
          met_accesses_(check, clocks_, *block.launch.kernel),
          map_fences_(check),
          async_fences_(block.warp(0).shared_bytes),
          shared_((block.warp(0).shared_bytes + 3) / 4),
          kernel_(*block.launch.kernel),
          is_in_cluster_(block.launch.cluster_size() > 1),
          met_(block.warp_count()),
          at_cluster_(block.warp_count()) {
        check.shared_of[&block].cells = &shared_;
        known_to_others_ = &check.shared_of[&block];
    }

    void start(uint64_t number) override {
        check_.settle();
        number_ = number;
        met_accesses_.start(number);
        map_fences_.start();
        async_fences_.start();
        clocks_.start();
        shared_.clear();
        std::fill(in_flight_.begin(), in_flight_.end(), false);
        std::fill(met_.begin(), met_.end(), 0);
        std::fill(at_cluster_.begin(), at_cluster_.end(), AtCluster{});
        known_to_others_->has_ended = false;
        known_to_others_->visits.clear();
    }

    // Its shared memory ends with it.
    void finish() override {
        check_.settle();
        uint32_t seen = 0;
        for (uint32_t w = 0; w < met_.size(); ++w) seen = std::max(seen, clocks_.seen(w));
        for (const auto &[warp, visit] : known_to_others_->visits) {
            if (!check_.published.known(visit.block, warp->warp_id, visit.clock, seen)) check_.outlive(visit);
        }
        known_to_others_->has_ended = true;
    }

    void warp_sync(const WarpContext &warp, uint32_t lanes) override {
        // Of many shuffles in a row one counts: a warp's clock has an end.
        if (met_[warp.warp_id] == lanes) return;
        check_.settle();
        clocks_.warp_sync(warp.warp_id, lanes);
        met_[warp.warp_id] = lanes;
    }

    void arrive(const WarpContext &warp, uint32_t barrier, uint32_t lanes, bool waits) override {
        check_.settle();
        if (barrier == BlockContext::cluster_barrier && is_in_cluster_) {
            AtCluster &at = at_cluster_[warp.warp_id];
            at.waits = waits;
            // The barrier's rounds alternate between two addresses: a block may arrive at the next one before another
            // has gone on from this one.
            if (!waits) {
                const Cluster &cluster = warp.block->cluster();
                at.round = reinterpret_cast<uint64_t>(&cluster) + 4 * (cluster.phase() % 2);
                check_.published.pass_on(number_, clocks_.all(warp.warp_id), clocks_.seen(warp.warp_id), at.round);
            }
        }
        clocks_.arrive(warp.warp_id, barrier, lanes, waits);
    }

    void release(uint32_t barrier) override {
        clocks_.release(barrier);
        if (barrier != BlockContext::cluster_barrier || !is_in_cluster_) return;
        for (uint32_t w = 0; w < at_cluster_.size(); ++w) {
            if (at_cluster_[w].waits) clocks_.see(w, check_.published.learn(at_cluster_[w].round));
            at_cluster_[w].waits = false;
        }
    }

    void fence(const WarpContext &warp, bool of_device) override {
        if (of_device) clocks_.fence(warp.warp_id);
    }

    void allocate(uint64_t address, uint64_t size) override {
        check_.settle();
        check_.global.forget(address, size);
    }

    void mbarrier_arrive(const WarpContext &warp, uint32_t lanes, const uint64_t *address) override {
        check_.settle();
        bool is_own = true;
        each_address(lanes, address, [&](uint64_t at) { is_own &= is_own_shared(warp, at); });
        pass_on(warp, lanes, address, !is_own, is_own);
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
            if (!cell.write.empty() && cell.write.thread == thread &&
                kernel_.sites[cell.write.site].order & EMU_LATER) {
                cell.write.clock = now;
            }
            return false;
        });
        Cells *read = copy.from ? check_.global.page_of(copy.from) : nullptr;
        if (!read || copy.from % copy.size) return;
        Trace trace = trace_of(warp, copy.load_site);
        trace.thread = thread;
        read->each(copy.from % GlobalCells::page_bytes, copy.size, [&](Cell &cell) {
            return met_accesses_.touch({cell, trace, false, false, warp, copy.load_site, lane, copy.from});
        });
    }

    // A copy is one thread's. What its mbarrier counts is known to whoever waits there, whenever the thread itself has
    // arrived.
    void bulk(const WarpContext &warp, uint32_t lane, const BulkAccess &it) override {
        if (it.stage == BulkStage::shared_write_ends) {
            check_.settle();
            uint64_t offset = it.address - reinterpret_cast<uint64_t>(warp.shared);
            if (offset >= warp.shared_bytes || it.size > warp.shared_bytes - offset) return;
            if (!in_flight_.empty())
                std::fill_n(in_flight_.begin() + static_cast<long>(offset / 4), it.size / 4, false);
            uint64_t mbarrier[32];
            mbarrier[lane] = it.mbarrier;
            return pass_on(warp, 1u << lane, mbarrier, false, true);
        }
        uint32_t width = kernel_.sites[it.site].size;
        for (uint32_t begin = 0; begin < it.size; begin += width) {
            uint64_t address[32];
            address[lane] = it.address + begin;
            look_at(warp, it.site, 1u << lane, address, false);
        }
    }

    void access(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address) override {
        look_at(warp, index, lanes, address, true);
    }

    void fence_async(const WarpContext &) override { async_fences_.fence(); }

    void read_async(const WarpContext &warp, uint32_t index, uint32_t lane, uint64_t address, uint32_t size) override {
        if (!is_own_shared(warp, address)) return;
        check_.settle();
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared);
        async_fences_.read(address - shared, size, [&](uint64_t offset) {
            shared_.each(offset, 4, [&](Cell &cell) {
                if (cell.write.empty()) return false;
                check_.meet({warp, index, lane, shared + offset, number_, cell.write, true, false,
                             "no fence.proxy.async stands between the two: what reads asynchronously may find what was "
                             "there before"});
                return true;
            });
        });
    }

    void fence_maps(const WarpContext &warp, uint32_t lanes, const uint64_t *maps) override {
        check_.settle();
        if (maps) return each_address(lanes, maps, [&](uint64_t map) { map_fences_.acquire(map); });
        uint32_t warps = static_cast<uint32_t>(met_.size());
        check_.map_releases.note(number_, clocks_.all(warp.warp_id), warps, clocks_.seen(warp.warp_id));
    }

    void use_map(const WarpContext &warp, uint32_t index, uint32_t lane, uint64_t map) override {
        uint32_t width = kernel_.sites[index].size;
        for (uint32_t begin = 0; begin < TensorMap::bytes; begin += width) {
            uint64_t address[32];
            address[lane] = map + begin;
            look_at(warp, index, 1u << lane, address, false);
        }
        map_fences_.use(map, [&](const Trace &write, const char *missing) {
            check_.meet({warp, index, lane, map, number_, write, true, false, missing});
        });
    }

    void launch(const WarpContext &warp, uint32_t lane, LaunchPoint &point) override {
        check_.settle();
        met_[warp.warp_id] = 0;
        point.block = number_;
        point.warp = warp.warp_id;
        point.seen = clocks_.seen(warp.warp_id);
        clocks_.note(warp.warp_id, lane, point.own, &point.of_warps);
        point.is_known = true;
        clocks_.tick(warp.warp_id);
    }

    void store(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address,
               const StoredValues &stored) override {
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
    // What lanes are about to access. `ends_at_once`: it is no copy that goes on while the warp does.
    void look_at(const WarpContext &warp, uint32_t index, uint32_t lanes, const uint64_t *address, bool ends_at_once) {
        check_.settle();
        met_[warp.warp_id] = 0;
        const EmuSite &site = kernel_.sites[index];
        if (site.kind == EMU_NO_ACCESS || site.space == EMU_LOCAL || site.space == EMU_PARAM) return;
        // Only other launches and copies write constant memory: one access tells enough.
        if (site.space == EMU_CONST && !check_.is_first_constant(index)) return;
        bool strong = site.order & EMU_STRONG, writes = site.kind != EMU_LOAD;
        if (strong && !writes) met_accesses_.of_lanes(warp, index, lanes, address, shared_);
        if (strong && site.kind != EMU_STORE) learn(warp, lanes, address);
        bool looks = strong && (site.kind == EMU_LOAD || site.atomic_form & EMU_AWAITED);
        if (looks && !is_own_shared(warp, address[__builtin_ctz(lanes)])) met_accesses_.note_look();
        if (site.order & EMU_SYSTEM) check_.note_meeting_host(address[__builtin_ctz(lanes)]);
        // What cannot be reported from the accesses of others is not looked at.
        if (clocks_.now(warp.warp_id) > Trace::max_clock || !check_.follows_sites || !check_.follows_blocks) return;
        Trace trace = trace_of(warp, index);
        bool copies = site.kind == EMU_STORE && site.order & EMU_LATER;
        bool may_be_silent = site.kind == EMU_STORE && ends_at_once && !(site.order & (EMU_STRONG | EMU_LATER));
        if (copies && in_flight_.empty()) in_flight_.resize((warp.shared_bytes + 3) / 4);
        uint64_t shared = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            uint32_t lane = __builtin_ctz(rest);
            uint64_t at = address[lane];
            if (at % site.size) continue;
            trace.thread = warp.warp_id * 32 + lane;
            Cells *cells = &shared_;
            uint64_t offset = at - shared;
            bool in_flight = false, is_global = false;
            if (offset >= warp.shared_bytes || site.size > warp.shared_bytes - offset) {
                if (at - local < (kernel_.local_bytes + warp.stack_bytes) * 32) continue;
                if (const WarpContext *home = is_in_cluster_ ? home_of(warp, at) : nullptr) {
                    offset = at - reinterpret_cast<uint64_t>(home->shared);
                    cells = visit(*home, {&warp, index, lane, at, number_, trace.clock}, ends_at_once);
                    if (site.size > home->shared_bytes - offset) continue;
                } else {
                    offset = at % GlobalCells::page_bytes;
                    cells = check_.global.page_of(at);
                    is_global = true;
                }
                if (!cells) continue;
            } else if (!in_flight_.empty()) {
                in_flight = is_in_flight(offset, site.size);
                if (copies) std::fill_n(in_flight_.begin() + offset / 4, site.size / 4, true);
            }
            if (writes && cells == &shared_) async_fences_.write(offset, site.size, !ends_at_once);
            bool reads_only = is_global && site.order & EMU_READ_ONLY;
            cells->each(offset, site.size, [&](Cell &cell) {
                if (reads_only && !cell.write.empty()) {
                    check_.meet({warp, index, lane, at, number_, cell.write, true, false,
                                 "the read-only cache (ld.global.nc: by __ldg, or const __restrict__) need not have "
                                 "what the launch itself writes"});
                    return true;
                }
                // What shared memory holds that nobody has written is there by chance.
                if (may_be_silent && (is_global || !cell.write.empty())) check_.note_store(cell, trace, at, site.size);
                return met_accesses_.touch({cell, trace, writes, in_flight, warp, index, lane, at});
            });
        }
        if (strong && writes) pass_on(warp, lanes, address, site.order & EMU_RELEASE, site.order & EMU_BLOCK);
    }

    Cells *visit(const WarpContext &home, const RaceCheck::Visit &visit, bool ends_at_once) {
        RaceCheck::SharedOfBlock &shared = check_.shared_of[home.block];
        if (ends_at_once) {
            if (shared.has_ended) check_.outlive(visit);
            shared.visits[visit.warp] = visit;
        }
        return shared.cells;
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
            if (within_block || (!is_in_cluster_ && is_own_shared(warp, at))) return;
            check_.published.pass_on(number_, upto, clocks_.seen(id), at);
            if (!releases) check_.note_unfenced(number_, clocks_.all(id), static_cast<uint32_t>(met_.size()));
        });
        clocks_.tick(id);
    }

    // A warp at the cluster's barrier: what stands for the round that it has arrived in as an address.
    struct AtCluster {
        uint64_t round = 0;
        bool waits = false;
    };

    RaceCheck &check_;
    BlockClocks clocks_;
    MetAccesses met_accesses_;
    MapFences map_fences_;
    AsyncFences async_fences_;
    Cells shared_;
    RaceCheck::SharedOfBlock *known_to_others_;
    std::vector<bool>
        in_flight_;  // of the words of shared memory: a copy into it has not landed. Empty until there is a copy
    const EmuKernel &kernel_;
    const bool is_in_cluster_;
    std::vector<uint32_t> met_;          // of each warp the lanes that have met since its last access
    std::vector<AtCluster> at_cluster_;  // by warp
    uint64_t number_ = 0;
};

}  // namespace

const WarpContext *home_of(const WarpContext &warp, uint64_t address) {
    if (is_own_shared(warp, address)) return &warp;
    const BlockContext *owner = warp.block->cluster().owner(address);
    return owner ? &owner->warp(0) : nullptr;
}

std::unique_ptr<BlockObserver> watch_block(RaceCheck &check, const BlockContext &block) {
    return std::make_unique<BlockRaces>(check, block);
}

}  // namespace emu
