// wgmma: each warp of a warpgroup multiplies its own 16 rows, at once. Checks see its reads of shared memory when it waits for the group,
// since until then they may happen.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

// What a warp has issued, and not waited for.
struct WarpgroupProducts {
    struct Product {
        uint32_t site, group;
        std::vector<uint64_t> pieces;  // of 16 bytes, that it reads
    };
    uint32_t group = 0;  // that the next one belongs to
    std::vector<Product> pending;
};

}  // namespace emu
