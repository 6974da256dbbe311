// cp.async.bulk and its tensor forms, st.async and red.async. Bytes reach shared memory when somebody tests the
// mbarrier that counts them; shared memory is read for a copy to global memory when its group is waited for, or its
// block ends. So a missing wait shows, as it does on a GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "abi.h"
#include "exec/observe.h"

namespace emu {

// A piece of global memory that lies `begin` bytes behind the start of a copy's box.
struct GlobalRun {
    uint64_t address;
    uint32_t begin, bytes;
};

// How 16-byte pieces of a box change places in shared memory: pieces of 16 << mode bytes are mixed.
inline uint32_t swizzled(uint32_t offset, uint32_t mode) { return offset ^ ((offset >> 7 & ((1u << mode) - 1)) << 4); }

struct BulkCopy {
    BlockContext *issuer;
    uint32_t warp, lane;
    uint32_t load_site, store_site;
    uint64_t window;   // host address of offset 0 of shared memory
    uint32_t offset;   // of the box in it
    uint32_t size;     // of the box, in bytes
    uint32_t swizzle;  // as swizzled() has it
    // To shared memory.
    uint64_t mbarrier = 0;
    std::vector<uint8_t> image = {};
    // To global memory.
    std::vector<GlobalRun> runs = {};
    uint32_t group = 0;
    // Either way.
    uint32_t code = ~0u;  // of emu_atomic; ~0: plain
};

// What is on its way in one cluster.
class BulkCopies {
public:
    void issue_load(BulkCopy &&copy) { loads_.push_back(std::move(copy)); }
    void issue_store(BulkCopy &&copy);
    void commit(const WarpContext &, uint32_t lanes);
    // Lands all but the lanes' last `left` groups.
    void wait(const WarpContext &, uint32_t lanes, uint32_t left);
    // Lands what the mbarrier counts.
    void settle(uint64_t mbarrier);
    // A block has ended: what it has stored arrives.
    void finish(const BlockContext &);
    void clear();
    bool empty() const { return loads_.empty() && stores_.empty(); }

private:
    uint32_t &group(const WarpContext &, uint32_t lane);

    struct Groups {
        const BlockContext *block;
        std::vector<uint32_t> of_thread;
    };
    std::vector<BulkCopy> loads_, stores_;
    std::vector<Groups> groups_;
};

}  // namespace emu
