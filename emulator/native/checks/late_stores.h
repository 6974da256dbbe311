// Stores to global memory, and atomics, that another block's access was seen to meet without an order, done as late as
// hardware may do them: the block goes on, and others still read what was there before. `*out += x` by several blocks
// then loses updates, as it does on a GPU, and so does `atomicAdd_block(out, x)`: each block adds to what it saw last.
// Other atomics are late where nobody uses their result, and lose nothing: one that adds does so when it is done.
//
// A store is done before anything in its block touches the same bytes, before the block's next access to global memory
// behind a fence, before a release, and when the launch ends. That its block has ended does not have it done: without a
// fence, nothing says when. Two things do besides, so that who polls sees it in the end: a warp that reads it by strong
// accesses does so again, or it was read often; and, of the oldest blocks that have ended, that there is no more room.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
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
    // Does what any block has put off of these bytes.
    void perform_of_all(uint64_t address, uint64_t size);
    // A warp of the block is about to read: what it has read before by a strong access is done.
    void poll(uint64_t block, uint32_t warp, uint64_t address, uint32_t size, bool strong);
    void end_block(uint64_t block);

private:
    // No store is larger, nor lies in two such lines of memory.
    static constexpr uint64_t line_bytes = 32;
    struct Late {
        uint64_t block, address;
        const EmuSite *site;
        uint8_t of[line_bytes];     // what is stored, or added; before it has happened: what was there
        uint64_t first_reader = 0;  // the block and warp that first read by a strong access what was there before
        uint32_t reads = 0;
    };
    using Line = std::vector<Late>;  // the oldest first

    void keep(const Late &late);
    // Does those of the bytes that are wanted.
    template <class Wanted>
    void perform_if(uint64_t address, uint64_t size, Wanted wanted);
    // Does those of the line that are wanted.
    template <class Wanted>
    void perform_in(uint64_t line, Wanted wanted);

    std::vector<bool> sites_;
    std::vector<Late> fresh_;                                              // about to happen, or happened just now
    std::unordered_map<uint64_t, Line> lines_;                             // by address / line_bytes
    std::unordered_map<uint64_t, std::unordered_set<uint64_t>> lines_of_;  // of each block
    size_t count_ = 0;                                                     // of lines_, in all
    std::deque<uint64_t> ended_;  // blocks that have ended, the oldest first, and whose stores may not be done
};

}  // namespace emu
