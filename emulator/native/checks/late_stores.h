// Stores to global memory that another block has been seen to race with, done as late as hardware may do them: the block goes on, and
// others still read what was there before. `*out += x` by several blocks then loses updates, as it does on a GPU.
//
// A store is done before anything in its block touches the same bytes, at a fence, before a release, and when the launch ends; else
// when some further blocks have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "exec/observe.h"

namespace emu {

// From now on the stores of this site are late, in launches whose order lets warps run ahead.
void note_racing_store(const std::string &kernel, uint32_t site);

// Of a launch, all blocks of which run on one thread.
class LateStores : public Observer {
  public:
    // Null where no store of the kernel races.
    static std::unique_ptr<LateStores> of(const Launch &launch);
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

    explicit LateStores(std::vector<bool> sites) : sites_(std::move(sites)) {}

    bool is_late(uint32_t site) const { return sites_[site]; }
    // The lane's store is about to happen: it is put off.
    void put_off(uint64_t block, uint64_t address, uint32_t size);
    // What was put off and has happened since is undone, until it is done at last.
    void settle();
    // Does what the block has put off; of these bytes only, where `size` is not 0.
    void do_all(uint64_t block, uint64_t address = 0, uint32_t size = 0);
    void end_block(uint64_t block);

  private:
    struct Store {
        uint64_t block, address;
        uint32_t size;
        bool is_undone;
        uint8_t bytes[32];  // what was there; once it is undone, what is to be
    };
    void perform(const Store &store) const;

    std::vector<bool> sites_;
    std::deque<Store> stores_;
    size_t settled_ = 0;  // the first so many of them are undone
    std::deque<uint64_t> ended_;  // blocks that have ended and whose stores are not done
};

}  // namespace emu
