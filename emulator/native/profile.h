// Counts what the accesses of a launch cost, site by site, through a modelled L1 and L2; with the tally of its basic blocks these become
// the launch's figures. They do not depend on the number of threads: what blocks ask of the L2 is looked up in the order of
// the blocks' numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "abi.h"
#include "figures.h"
#include "observe.h"

namespace emu {

class BlockProfile;

class Profile final : public Observer {
  public:
    explicit Profile(const Launch &);

    std::unique_ptr<BlockObserver> watch(BlockContext &) override;
    void finish(Launch &) override;

  private:
    friend class BlockProfile;

    // Of a site: accesses that only looked again, and their lanes.
    struct Polls {
        uint64_t count = 0, lanes = 0;
    };

    // What a block asks of the L2: line number, kind and sectors in a word each.
    using Stream = std::vector<uint64_t>;
    static constexpr size_t long_stream = 1 << 16;  // words after which a block shows what it has asked so far

    // Takes what block `number` has asked so far, when it is its turn; the block asks nothing more if it `is_whole`. To be called
    // whenever the stream has grown to a multiple of `long_stream`.
    void take(uint64_t number, Stream &stream, bool is_whole);
    void look_up(const Stream &);
    void add(const BlockProfile &);
    LaunchFigures figures(const Launch &) const;

    uint64_t l1_bytes_;  // a block's share
    std::vector<uint32_t> block_sizes_;  // instructions of each basic block
    std::mutex mutex_;
    std::vector<Figures> sites_;
    uint64_t barriers_ = 0, longest_warp_ = 0, longest_block_ = 0, shared_atomic_turns_ = 0, shared_increment_turns_ = 0;
    std::vector<uint64_t> atomic_turns_, float_atomic_turns_;  // as BlockProfile's
    std::vector<Polls> polls_;
    std::mutex l2_mutex_;
    uint64_t next_block_ = 0;
    std::map<uint64_t, Stream> waiting_;
    size_t kept_ = 0;  // words in streams whose turn has not come
    uint64_t read_sectors_ = 0, written_sectors_ = 0;
};

// The size of the L2 from the next launch on; it is empty then, if that is another one.
void set_l2(uint64_t size_bytes);
// Launches from now on find the L2 empty.
void forget_l2();

}  // namespace emu
