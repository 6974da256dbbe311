// Profiles one block: what each access costs in its memory bank and its L1, and what it requests from the L2.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/cache_model.h"
#include "profile/poll_detector.h"
#include "profile/profile.h"

namespace emu {

class AccessFootprint;

class BlockProfile final : public BlockObserver {
public:
    // What the access asks of the L2. A reduction is an atomic whose result nobody uses.
    enum Kind : uint64_t { read, write, atomic, reduction };

    BlockProfile(Profile &, BlockContext &);
    ~BlockProfile() override;

    void start(uint64_t number) override;
    void finish() override;
    void access(const WarpContext &, uint32_t site, uint32_t mask, const uint64_t *address) override;
    void arrive(const WarpContext &, uint32_t barrier, uint32_t lanes, bool waits) override;
    void mbarrier_arrive(const WarpContext &, uint32_t lanes, const uint64_t *address) override;
    void bulk(const WarpContext &, uint32_t lane, const BulkAccess &) override;
    void mbarrier_wait(const WarpContext &) override;
    void change(const WarpContext &) override;
    bool pause(WarpContext &, bool at_loop_head) override;

private:
    friend class Profile;

    PollDetector &poll_detector_of(const WarpContext &warp) { return poll_detectors_[warp.warp_id]; }
    void count(const WarpContext &, uint32_t site, uint32_t mask, const uint64_t *address);
    void access_local(const WarpContext &, const EmuSite &, Counters &, uint32_t mask, const uint64_t *address);
    void access_cached(const WarpContext &, const EmuSite &, bool is_local, Counters &, const AccessFootprint &);
    void access_shared(const WarpContext &, const EmuSite &, Counters &, uint32_t mask, const uint64_t *address);
    void access_bank(Counters &, uint32_t mask, const uint64_t *address);
    void access_atomic(const EmuSite &, Counters &, uint32_t shared, uint32_t global, const uint64_t *address);
    void count_turns(bool is_float, uint32_t mask, const uint64_t *address);
    void count_block();
    void ask_l2(uint64_t line, uint32_t sectors, Kind, uint64_t load);

    Profile &profile_;
    BlockContext &block_;
    CacheModel l1_;
    uint64_t number_ = 0;
    Profile::Stream stream_;
    std::vector<Counters> sites_;  // of blocks that have ended
    // Of the block that runs, by site; and by warp, of which only what warps wait for.
    std::vector<Counters> sites_of_block_, warps_;
    std::vector<uint64_t> barriers_of_;  // by warp
    Counters *of_warp_ = nullptr;        // whose access is counted
    Counters busiest_block_, busiest_warp_;
    uint64_t max_barriers_ = 0;  // of a warp
    uint64_t barriers_ = 0, longest_warp_ = 0, shared_atomic_turns_ = 0, shared_increment_turns_ = 0;
    BlockSizes sizes_;
    uint64_t polls_ = 0;
    std::vector<PollDetector> poll_detectors_;  // by warp
};

}  // namespace emu
