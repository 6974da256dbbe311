// wgmma: each warp of a warpgroup multiplies its own 16 rows, at once. Who waits for a group waits for all warps of the
// warpgroup: then their reads of shared memory have ended, and only then, so that is when checks see them.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

constexpr uint32_t warps_of_warpgroup = 4;

// What a warp has issued, and nobody has waited for.
struct WarpgroupProducts {
    struct Product {
        uint32_t site, group;
        std::vector<uint64_t> pieces;  // of 16 bytes, that it reads
    };
    uint32_t group = 0;    // that the next one belongs to
    uint32_t awaited = 0;  // where it waits: until all warps have issued so many groups
    std::vector<Product> pending;
};

}  // namespace emu
