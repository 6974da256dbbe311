#include "checks/map_fences.h"

#include <algorithm>
#include <cstring>

#include "checks/racecheck.h"

namespace emu {

void MapReleases::note(uint64_t block, const Clock *upto, uint32_t warps, uint32_t seen) {
    std::vector<Clock> &known = upto_[block];
    known.resize(warps);
    for (uint32_t w = 0; w < warps; ++w) known[w] = std::max(known[w], upto[w]);
    seen_ = std::max(seen_, seen);
}

bool MapReleases::has(const Trace &write, const Publications &published) const {
    auto found = upto_.find(write.block);
    uint32_t warp = write.thread / 32;
    return (found != upto_.end() && write.clock <= found->second[warp]) ||
           published.known(write.block, warp, write.clock, seen_);
}

MapFences::Writes MapFences::writes(uint64_t map) {
    Writes last{};
    for (size_t i = 0; i < last.size(); ++i) {
        uint64_t at = map + 4 * i;
        Cells *cells = check_.global.page_of(at);
        if (!cells) continue;
        cells->each(at % GlobalCells::page_bytes, 4, [&](const Cell &cell) {
            if (!cell.write.empty()) last[i] = cell.write;
            return false;
        });
    }
    return last;
}

const char *MapFences::missing_behind(const Trace &write, uint64_t map, size_t word) const {
    auto found = acquired_.find(map);
    bool is_acquired = found != acquired_.end() && std::memcmp(&found->second[word], &write, sizeof write) == 0;
    bool is_released = check_.map_releases.has(write, check_.published);
    if (is_acquired && is_released) return nullptr;
    if (is_released)
        return "no fence.proxy.tensormap::generic.acquire of the tensor map stands before the copy: it may go by what "
               "was there before";
    if (is_acquired)
        return "no fence.proxy.tensormap::generic.release, or tensormap.cp_fenceproxy, stands behind the write: the "
               "copy may go by what was there before";
    return "neither fence.proxy.tensormap::generic.release (or tensormap.cp_fenceproxy) stands behind the write, nor "
           "fence.proxy.tensormap::generic.acquire of the tensor map before the copy, which may go by what was there "
           "before";
}

}  // namespace emu
