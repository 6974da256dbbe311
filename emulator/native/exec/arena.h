// One reserved range of addresses, which serves as the device's memory.
//
// Each allocation is mapped with padding on both sides and unmapped addresses behind it, so that a wild access of a
// kernel hits neither another allocation nearby nor the host's own memory. Addresses are the same in every process
// (unless something else is mapped there), so that programs which depend on addresses behave alike from run to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace emu {

class Arena {
public:
    // Mapped bytes before and, at least, behind each block. Reads of a kernel that stray into them do not crash. They
    // hold other numbers for each block, so that an answer that depends on them is wrong.
    static constexpr uint64_t padding = 4096;
    static constexpr uint64_t page = 4096;

    Arena();

    // Zeroed memory of `size` bytes at a multiple of `alignment` (a power of two), or 0 when there is none. It is at
    // `at`, when that is not 0, or nowhere.
    uint64_t carve(uint64_t size, uint64_t alignment, uint64_t at = 0);

    // What is carved without an address from now on lies in the upper half, as far as there is room.
    void prefer_upper_half() { cursor_ = base_ + size_ / 2; }

    // Gives a block back; its pages are dropped and its addresses fault from then on.
    void release(uint64_t address);

    // Lets the host's code touch the pages of an address range, or not.
    static void set_accessible(uint64_t address, uint64_t size, bool accessible);
    // Drops the pages of an address range, which faults from then on.
    static void forget(uint64_t address, uint64_t size);
    // Lets the host's code touch a block, or not: of at most `reach` bytes, from the first one on.
    void protect(uint64_t address, bool accessible, uint64_t reach);

    bool contains(uint64_t address) const { return address - base_ < size_; }

private:
    struct Block {
        uint64_t begin, end;  // with the padding and the gap behind
        uint64_t mapped;      // where the gap begins
    };

    uint64_t reserve(uint64_t bytes, uint64_t alignment);
    bool reserve_at(uint64_t address, uint64_t bytes);
    void take(std::map<uint64_t, uint64_t>::iterator hole, uint64_t begin, uint64_t end);

    uint64_t base_ = 0, size_ = 0;
    uint64_t carved_ = 0;                // how many blocks there were
    uint64_t cursor_ = 0;                // the end of what was handed out last: freed addresses are reused late
    std::map<uint64_t, uint64_t> free_;  // begin -> end
    std::map<uint64_t, Block> blocks_;   // address handed out -> what it covers
};

}  // namespace emu
