// Tensor maps that a kernel changes: copies read them by a proxy of their own, which needs fences between.
//
// Behind the write comes fence.proxy.tensormap::generic.release, by its thread or one that knows of it, and before the
// copy, in its block, ::generic.acquire of the map. Maps that nobody writes during the launch need neither.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checks/shadow_memory.h"
#include "checks/vector_clocks.h"
#include "exec/tensor_map.h"

namespace emu {

class RaceCheck;

// Which writes threads have released to that proxy, in the blocks of a launch.
class MapReleases {
public:
    // What `block` did up to these clocks of its warps is released, and what it had learnt of others by then.
    void note(uint64_t block, const Clock *upto, uint32_t warps, uint32_t seen);
    bool has(const Trace &write, const Publications &published) const;

private:
    std::unordered_map<uint64_t, std::vector<Clock>> upto_;  // by block
    uint32_t seen_ = 0;
};

// Of the block that runs in one context.
class MapFences {
public:
    explicit MapFences(RaceCheck &check) : check_(check) {}
    void start() { acquired_.clear(); }
    void acquire(uint64_t map) { acquired_[map] = writes(map); }
    // A copy through this map: calls `miss(write, what is missing)` for a write that lacks a fence.
    template <class Miss>
    void use(uint64_t map, Miss miss) {
        Writes now = writes(map);
        for (size_t i = 0; i < now.size(); ++i) {
            if (const char *missing = now[i].empty() ? nullptr : missing_behind(now[i], map, i))
                return miss(now[i], missing);
        }
    }

private:
    using Writes = std::array<Trace, TensorMap::bytes / 4>;
    // The last write of each word.
    Writes writes(uint64_t map);
    // Null where nothing is missing.
    const char *missing_behind(const Trace &write, uint64_t map, size_t word) const;

    RaceCheck &check_;
    std::unordered_map<uint64_t, Writes> acquired_;  // by map: what had been written when it was acquired
};

}  // namespace emu
