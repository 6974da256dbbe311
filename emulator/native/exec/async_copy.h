// cp.async, whose bytes reach shared memory only at a wait for them, so that a missing wait shows as it does on a GPU;
// and mbarriers, which such copies can arrive at.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "abi.h"

namespace emu {

// What is on its way in one block. Copies read global memory at once.
class AsyncCopies {
public:
    explicit AsyncCopies(BlockContext &block);

    // Another block begins: what is on its way is forgotten.
    void clear();
    // `size` bytes (4, 8 or 16) for each of the lanes, of which `wanted[lane]` come from `from[lane]`; the rest are
    // zeros.
    void issue(uint32_t warp, uint32_t lanes, const uint64_t *to, const uint64_t *from, uint32_t size,
               const uint32_t *wanted, uint32_t load_site);
    void commit(uint32_t warp, uint32_t lanes);
    // Lands all but the lanes' last `left` groups.
    void wait(uint32_t warp, uint32_t lanes, uint32_t left);
    void wait_all(uint32_t warp, uint32_t lanes);
    // The lanes arrive at these mbarriers once what they have issued so far has landed, which happens when somebody
    // tests the mbarrier.
    void arrive_later(uint32_t warp, uint32_t lanes, const uint64_t *mbarrier);
    // Lands what the mbarrier waits for, and arrives.
    void settle(uint64_t mbarrier);

private:
    struct Copy {
        uint32_t lanes, size, load_site;
        bool lands_at_once;
        uint64_t number;  // in the order of the warp's copies
        uint32_t group[32];
        uint64_t to[32], from[32];  // from: 0 where fewer bytes are wanted
        uint8_t bytes[32][16];
    };
    struct Warp {
        std::deque<Copy> pending;
        uint64_t issued = 0;
        uint32_t group[32] = {};  // the group that each lane's next copy belongs to
    };
    struct Arrival {
        uint64_t mbarrier;
        uint32_t warp, lanes;
        uint64_t number;  // waits for the warp's copies before this one
    };

    // Lands those copies of these lanes for which `is_due(copy, lane)`. `waited`: the lanes wait for them.
    template <class IsDue>
    void land(uint32_t warp, uint32_t lanes, bool waited, IsDue is_due);

    BlockContext &block_;
    std::vector<Warp> warps_;
    std::vector<Arrival> arrivals_;
};

}  // namespace emu
