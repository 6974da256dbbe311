// Stores to global memory, and atomics of block scope, that were seen to race with another block's access, done as late
// as hardware may do them: the block goes on, and others still read what was there before. `*out += x` by several
// blocks then loses updates, as it does on a GPU, and so does `atomicAdd_block(out, x)`: each block adds to what it saw
// last.
//
// A store is done before anything in its block touches the same bytes, at a fence, before a release, and when the
// launch ends; else when some further blocks have ended.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "abi.h"
#include "exec/observe.h"

namespace emu {

// Whether what is written there may be seen late by other blocks, if it races with them.
bool can_be_late(const EmuSite &site);

// From now on the stores of this site are late, in launches whose order lets warps run ahead.
void note_racing_store(const std::string &kernel, uint32_t site);

// Of a launch, all blocks of which run on one thread.
class LateStores : public Observer {
public:
    // Null where no store of the kernel races.
    static std::unique_ptr<LateStores> of(const Launch &launch);
    explicit LateStores(std::vector<bool> sites) : sites_(std::move(sites)) {}
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

    bool is_late(uint32_t site) const { return sites_[site]; }
    // The lane's store is about to happen: it is put off, where there is room.
    void put_off(uint64_t block, uint64_t address, uint32_t size);
    // What was put off and has happened since is undone.
    void settle();
    // Does what the block has put off: of these bytes; all of it.
    void perform(uint64_t block, uint64_t address, uint32_t size);
    void perform(uint64_t block);
    void end_block(uint64_t block);

private:
    struct Bytes {
        uint32_t size;
        uint8_t of[32];
    };
    struct Fresh {
        uint64_t block, address;
        Bytes before;
    };

    std::vector<bool> sites_;
    std::vector<Fresh> fresh_;                                      // about to happen, or happened just now
    std::unordered_map<uint64_t, std::map<uint64_t, Bytes>> late_;  // of each block, by address
    size_t count_ = 0;                                              // of late_, in all
    std::deque<uint64_t> ended_;  // blocks that have ended and whose stores are not done
};

}  // namespace emu
