// Profiles a launch: counts what its accesses cost, by source line, with a modelled L1 and L2, and what its basic
// blocks execute.
//
// The counters do not depend on the number of threads: the blocks' L2 requests are replayed in the order of the blocks'
// numbers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "abi.h"
#include "exec/observe.h"
#include "profile/atomic_turns.h"
#include "profile/block_sizes.h"
#include "profile/counters.h"

namespace emu {

class BlockProfile;

class Profile final : public Observer {
public:
    explicit Profile(const Launch &);

    std::unique_ptr<BlockObserver> watch(BlockContext &) override;
    void finish(Launch &) override;

private:
    friend class BlockProfile;

    // What a block asks of the L2: line number, kind and sectors in a word each; where a load begins, that, and its
    // warp.
    using Stream = std::vector<uint64_t>;
    static constexpr uint64_t begins_load = uint64_t{1} << 63;
    static constexpr uint32_t warp_shift = 57, max_warps = 32;  // lines have smaller numbers
    static constexpr size_t long_stream = 1 << 16;  // words after which a block shows what it has asked so far

    // Takes what block `number` has asked so far, when it is its turn; the block asks nothing more if it `is_whole`. To
    // be called whenever the stream has grown to a multiple of `long_stream`.
    void take(uint64_t number, Stream &stream, bool is_whole);
    void replay_l2_accesses(uint64_t number, const Stream &);
    void add(const BlockProfile &);
    LaunchProfile launch_profile(const Launch &) const;

    uint64_t resident_blocks_;   // of the device
    uint64_t l1_bytes_;          // a block's share
    std::vector<bool> polling_;  // by basic block: whether a loop that polls begins there
    std::mutex mutex_;
    std::vector<EmuContent> basic_blocks_;  // each as a whole
    std::vector<Counters> sites_;
    Counters busiest_block_, busiest_warp_;
    uint64_t max_barriers_ = 0;  // of a warp
    uint64_t barriers_ = 0, longest_warp_ = 0, shared_atomic_turns_ = 0, shared_increment_turns_ = 0;
    BlockSizes sizes_;
    AtomicTurns atomic_turns_, float_atomic_turns_;
    uint64_t polls_ = 0;
    std::mutex l2_mutex_;
    uint64_t next_block_ = 0;
    std::map<uint64_t, Stream> waiting_;
    size_t kept_ = 0;  // words in streams whose turn has not come
    uint64_t read_sectors_ = 0, written_sectors_ = 0;
    std::map<uint64_t, std::array<uint64_t, max_warps>> dram_loads_by_;  // warp, of blocks that have not ended
    uint64_t dram_loads_ = 0, max_dram_loads_ = 0;                       // in all, and of a warp
};

// Adds what was executed of a basic block that has run so many times, with so many lanes in all.
void count_runs(const EmuContent &, uint64_t runs, uint64_t lanes, Counters &into);

// The size of the L2 from the next launch on; it is empty then, if that is another one.
void set_l2(uint64_t size_bytes);
// Launches from now on find the L2 empty.
void forget_l2();

}  // namespace emu
