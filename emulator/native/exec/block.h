// One block: its warps, shared memory and barriers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "abi.h"
#include "exec/async_copy.h"
#include "exec/cluster.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "exec/warp_meeting.h"
#include "exec/warpgroup.h"
#include "host.h"

namespace emu {

struct Warp : WarpContext {
    bool done;
    bool waiting;       // returned EMU_BARRIER, and no lane has been released since
    bool quiet;         // returned EMU_BARRIER_QUIET last
    bool gives_way;     // at the first loop head: since its start, or a barrier that is not quiet
    int32_t turn;       // loop heads left of its turn, of a launch that is observed
    bool at_loop_head;  // it paused there last, of a launch that is observed
    bool only_waits;    // for others, as far as an observer knows
    bool polled;        // in its last turn it has found that an mbarrier is not complete, and nothing else
};

struct Barrier {
    uint32_t arrived = 0;   // threads of the current phase
    uint32_t expected = 0;  // 0: every live thread
    uint32_t predicates = 0;
    uint32_t op = EMU_SYNC;
    uint32_t result = 0;  // of the phase before
};

enum class Progress {
    finished,
    spun,      // every warp that could run used up its fuel, and nothing else happened
    gave_way,  // others are to have their turn, since work may be shared out among them
    deadlock,  // every warp waits at a barrier that cannot complete, or for an mbarrier
};

}  // namespace emu

// Declared in abi.h; what its `block` pointers mean.
struct BlockContext {
public:
    // Behind the block's barriers: the cluster's, and one for each warpgroup, where its warps wait for products.
    static constexpr uint32_t barriers = 16, cluster_barrier = 16, warpgroup_barrier = 17, most_warpgroups = 8;

    // Memory for blocks of this launch. `site_cache` and `tally` belong to the thread that runs the block. The first
    // block of a cluster brings the others, which run in its turns; `window` is the place for their shared memory.
    BlockContext(emu::Launch &launch, uint64_t *site_cache, uint64_t *tally, uint32_t rank = 0,
                 uint8_t *window = nullptr);
    ~BlockContext();
    BlockContext(const BlockContext &) = delete;

    // Makes it block number `number` of the grid, at its start; in a launch with clusters, `number` is the cluster's.
    void start(uint64_t number);
    emu::Progress advance(const emu::SchedulerLimits &limits);
    // After `deadlock`: the block of the cluster that cannot go on.
    BlockContext &stuck() { return *stuck_; }

    emu::Launch &launch;
    emu::Barrier barrier[warpgroup_barrier + most_warpgroups];
    // For accesses that must not happen; 32 bytes are used at a time.
    alignas(64) uint8_t scratch[64];
    uint64_t unreported_instructions = 0;
    uint32_t stops_after = 0;  // after so many steps of its warps its turn ends; 0: as ever
    uint32_t arrived_at = 0;   // the barriers where some thread has arrived, a bit each
    std::vector<std::unique_ptr<emu::BlockObserver>> observers;

    // What it takes from global memory, other blocks might have taken: on a GPU all run at once. Soon others have their
    // turn.
    void give_way() {
        gives_way_ = true;
        launch.takes_turns.store(true, std::memory_order_relaxed);
    }
    // All that its warps did when they ran last was to wait for others.
    bool only_waits() const { return only_waits_; }
    size_t memory_bytes() const { return memory_bytes_; }

    // Of an observed kernel, of this block: see WarpContext::tally.
    const uint64_t *tally_of(uint32_t warp) const { return tallies_.data() + warp * tally_words_; }
    // Adds them to those of the thread, and begins anew.
    void hand_over_tallies();

    bool copies_asynchronously() const { return async_copies_ != nullptr; }
    emu::AsyncCopies &async_copies() {
        if (!async_copies_) async_copies_ = std::make_unique<emu::AsyncCopies>(*this);
        return *async_copies_;
    }

    // Of that warp.
    emu::WarpMeeting &meeting(uint32_t warp) {
        if (meetings_.empty()) meetings_.resize(warp_count_);
        return meetings_[warp];
    }
    const emu::WarpMeeting *meeting_of(uint32_t warp) const { return meetings_.empty() ? nullptr : &meetings_[warp]; }

    emu::Cluster &cluster() { return *cluster_; }
    uint32_t rank() const { return rank_; }
    // The lanes wait at a barrier that is none of the block's own.
    void wait_at(WarpContext &warp, uint32_t id, uint32_t lanes);
    void note_cluster_arrival(const WarpContext &warp, uint32_t lanes);
    // What a lane of a warp waits for at an mbarrier.
    struct MbarrierWait {
        uint32_t site, lane;
        uint64_t mbarrier;
    };
    void note_mbarrier_wait(const WarpContext &warp, uint32_t site, uint32_t lane, uint64_t mbarrier);
    const MbarrierWait *mbarrier_wait(uint32_t warp) const {
        return warps_[warp].polled ? &mbarrier_waits_[warp] : nullptr;
    }
    emu::WarpgroupProducts &products(uint32_t warp) {
        if (products_.empty()) products_.resize(warp_count_);
        return products_[warp];
    }

    uint32_t live_threads() const;
    const emu::Warp &warp(uint32_t index) const { return warps_[index]; }
    uint32_t warp_count() const { return warp_count_; }

private:
    bool run_warp(emu::Warp &warp, int32_t turn, bool *spun);
    emu::Progress end_turn();
    int32_t run_functions(emu::Warp &warp);
    int32_t run_observed(emu::Warp &warp, int32_t loop_heads);
    int32_t run_watched(emu::Warp &warp);
    bool make_code(EmuCodeWanted wanted);
    void trap(const emu::Warp &warp);
    bool release_barriers();
    bool release_cluster_barrier();
    bool release_warpgroup(uint32_t id);
    bool end_products(uint32_t w, uint32_t upto);
    // Lets those lanes go on, of a warp and its lane, that wait there and are due. Returns whether there are any.
    bool release_lanes(uint32_t id, const std::function<bool(uint32_t, uint32_t)> &is_due);
    void start_alone(uint64_t number);
    emu::Progress advance_alone(const emu::SchedulerLimits &limits);
    bool is_in_waiting_loop(const emu::Warp &warp) const;
    bool waits_for_ever() const;
    // Whether all threads of the block wait at the barrier `id`, and go on at one place.
    bool all_wait_at(uint32_t id) const;
    // Whether threads that wait at the barrier `id` wait at different lines, or others have ended.
    bool diverges(uint32_t id, uint32_t waiting) const;

    uint32_t warp_count_, rank_;
    bool may_give_way_, runs_ahead_ = false;
    bool gives_way_ = false, only_waits_ = false;
    // Fuel of a turn's warps, less and less where all that comes of it are looks at memory; looks of the current turn.
    int32_t patience_ = 0;
    uint32_t looks_ = 0;
    uint32_t shared_bytes_;
    uint64_t number_ = 0, pass_ = 0;
    size_t memory_bytes_;
    uint8_t *memory_;  // of everything below
    emu::Warp *warps_;
    uint64_t *tally_;     // of the thread
    size_t tally_words_;  // of a warp
    std::vector<uint64_t> tallies_;
    uint8_t *shared_;
    std::unique_ptr<emu::AsyncCopies> async_copies_;
    std::vector<emu::WarpMeeting> meetings_;  // made when first needed
    std::vector<emu::WarpgroupProducts> products_;
    // Of a launch with clusters: all of the cluster's windows of shared memory, and its other blocks, of the first;
    // when each thread has arrived at the cluster's barrier.
    uint8_t *windows_ = nullptr;
    std::vector<std::unique_ptr<BlockContext>> others_;
    std::shared_ptr<emu::Cluster> cluster_;
    std::vector<uint32_t> cluster_phases_;
    bool ended_ = false;
    // Rounds in which all warps waited for mbarriers in loops that end by these alone, while nothing happened in the
    // cluster.
    std::vector<MbarrierWait> mbarrier_waits_;
    uint32_t idle_rounds_ = 0;
    uint64_t last_progress_ = 0;
    BlockContext *stuck_ = this;
};
