// The profile's eye on one block: what each access costs at its bank, its L1, and what it asks of the L2.
#pragma once

#include <cstdint>
#include <vector>

#include "cache_model.h"
#include "profile.h"

namespace emu {

class BlockProfile final : public BlockObserver {
  public:
    enum Kind : uint64_t { read, write, atomic };  // what is asked of the L2

    BlockProfile(Profile &, BlockContext &);
    ~BlockProfile() override;

    void start(uint64_t number) override;
    void finish() override;
    void access(const WarpContext &, uint32_t site, uint32_t mask, const uint64_t *address) override;
    void arrive(const WarpContext &, uint32_t barrier, uint32_t lanes, bool waits) override;

  private:
    friend class Profile;

    void access_global(const EmuSite &, Figures &, uint32_t mask, const uint64_t *address);
    void access_shared(const WarpContext &, const EmuSite &, Figures &, uint32_t mask, const uint64_t *address);
    void access_bank(Figures &, uint32_t mask, const uint64_t *address);
    void access_atomic(const EmuSite &, Figures &, uint32_t shared, uint32_t global, const uint64_t *address);
    void count_turns(bool is_float, uint32_t mask, const uint64_t *address);
    // Whether the warp only looks again: it did nothing else since.
    bool is_poll(const WarpContext &, uint32_t site, uint32_t mask, const uint64_t *address);
    void ask_l2(uint64_t line, uint32_t sectors, Kind);

    struct LastAccess {
        uint32_t site, mask;
        uint64_t address[32];
        uint64_t polling;  // instructions that the warp executed only to look again
    };

    Profile &profile_;
    BlockContext &block_;
    CacheModel l1_;
    uint64_t number_ = 0;
    Profile::Stream stream_;
    std::vector<Figures> sites_;
    uint64_t barriers_ = 0, longest_warp_ = 0, longest_block_ = 0, shared_atomic_turns_ = 0, shared_increment_turns_ = 0;
    // Of sectors, by a hash of theirs; empty before the first.
    std::vector<uint64_t> atomic_turns_, float_atomic_turns_;
    std::vector<Profile::Polls> polls_;  // by site
    std::vector<LastAccess> last_;       // by warp
};

}  // namespace emu
