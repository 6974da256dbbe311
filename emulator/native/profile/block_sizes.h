// A histogram of the instructions that blocks execute, which tells how evenly the blocks share a launch's work.
#pragma once

#include <bit>
#include <cstdint>
#include <map>

namespace emu {

class BlockSizes {
public:
    void add(uint64_t instructions) { ++blocks_by_class_[class_of(instructions)]; }
    void add(const BlockSizes &more) {
        for (auto [size_class, blocks] : more.blocks_by_class_) blocks_by_class_[size_class] += blocks;
    }

    // How many execute half as much as the largest, or more; to an eighth.
    uint64_t busy() const {
        uint64_t blocks = 0;
        for (auto it = blocks_by_class_.rbegin(); it != blocks_by_class_.rend(); ++it) {
            if (it->first + classes_per_octave >= blocks_by_class_.rbegin()->first) blocks += it->second;
        }
        return blocks;
    }

private:
    static constexpr uint32_t classes_per_octave = 8;

    static uint32_t class_of(uint64_t instructions) {
        auto bits = static_cast<uint32_t>(std::bit_width(instructions));
        if (bits <= 4) return static_cast<uint32_t>(instructions);
        return classes_per_octave * (bits - 4) + static_cast<uint32_t>(instructions >> (bits - 4));
    }

    std::map<uint32_t, uint64_t> blocks_by_class_;
};

}  // namespace emu
