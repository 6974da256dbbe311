// Stores to global memory, and atomics, that another block's access was seen to meet without an order, done as late as
// hardware may do them: the block goes on, and others still read what was there before. `*out += x` by several blocks
// then loses updates, as it does on a GPU, and so does `atomicAdd_block(out, x)`: each block adds to what it saw last.
// Other atomics are late where nobody uses their result, and lose nothing: one that adds does so when it is done.
//
// A store is done before anything in its block touches the same bytes, before the block's next access to global memory
// behind a fence, before a release, and when the launch ends; else when some further blocks have ended, or when a warp
// that reads it by strong accesses does so again: who polls sees it in the end.
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
    void put_off(uint64_t block, uint64_t address, const EmuSite &site);
    // What was put off and has happened since is undone.
    void settle();
    // Does what the block has put off: of these bytes; all of it.
    void perform(uint64_t block, uint64_t address, uint32_t size);
    void perform(uint64_t block);
    // A warp of the block is about to read by a strong access: what it has read before is done.
    void poll(uint64_t block, uint32_t warp, uint64_t address, uint32_t size);
    void end_block(uint64_t block);

private:
    // What is stored, or added.
    struct Bytes {
        const EmuSite *site;
        uint8_t of[32];
        uint64_t first_reader = 0;  // the block and warp that first read by a strong access what was there before
        uint32_t reads = 0;
    };
    struct Fresh {
        uint64_t block, address;
        Bytes before;
    };
    using Stores = std::map<uint64_t, Bytes>;
    // Does one, and returns the next.
    Stores::iterator perform(Stores &stores, Stores::iterator it);
    template <class Wanted>
    void perform_if(Stores &stores, uint64_t address, uint32_t size, Wanted wanted);

    std::vector<bool> sites_;
    std::vector<Fresh> fresh_;                   // about to happen, or happened just now
    std::unordered_map<uint64_t, Stores> late_;  // of each block, by address
    size_t count_ = 0;                           // of late_, in all
    std::deque<uint64_t> ended_;                 // blocks that have ended and whose stores are not done
};

}  // namespace emu
