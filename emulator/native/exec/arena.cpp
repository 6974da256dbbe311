#include "exec/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "exec/round_up.h"

namespace emu {

namespace {

constexpr uint64_t preferred_base = 0x200000000000;
constexpr uint64_t huge_page = 2 << 20;
constexpr uint64_t smallest_gap = 64 << 10, largest_gap = 1 << 30;

// Fills padding with what no other padding holds: large finite numbers of every type and either sign, so that zero
// times one is zero, and that any other use of one shows in sums, maxima and minima.
void fill_padding(uint64_t begin, uint64_t end, uint64_t key) {
    for (uint64_t at = begin; at < end; ++at) {
        uint64_t x = (at / 8 ^ key) * 0x9E3779B97F4A7C15;
        x = (x ^ x >> 32) * 0xD6E8FEB86659FD93;
        x = ((x ^ x >> 32) & 0x8B8B8B8B8B8B8B8B) | 0x7070707070707070;
        if (at % 8 || end - at < 8) {
            *reinterpret_cast<uint8_t *>(at) = static_cast<uint8_t>(x >> 8 * (at % 8));
        } else {
            *reinterpret_cast<uint64_t *>(at) = x;
            at += 7;
        }
    }
}

}  // namespace

Arena::Arena() {
    // The reservation costs no memory; a process whose address space is limited gets a smaller one.
    for (uint64_t size = 16ull << 40; size >= 1ull << 30 && !size_; size /= 4) {
        for (uint64_t hint : {preferred_base, uint64_t{0}}) {
            int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (hint ? MAP_FIXED_NOREPLACE : 0);
            void *at = mmap(reinterpret_cast<void *>(hint), size, PROT_NONE, flags, -1, 0);
            if (at == MAP_FAILED) continue;
            base_ = reinterpret_cast<uint64_t>(at);
            size_ = size;
            break;
        }
    }
    cursor_ = base_;
    if (size_) free_[base_] = base_ + size_;
}

uint64_t Arena::reserve(uint64_t bytes, uint64_t alignment) {
    // Next fit: from the cursor to the end, then from the start.
    for (int lap = 0; lap < 2; ++lap) {
        auto from = free_.lower_bound(cursor_);
        if (from != free_.begin() && std::prev(from)->second > cursor_) --from;
        auto begin = lap ? free_.begin() : from;
        for (auto it = begin; it != free_.end(); ++it) {
            uint64_t start = lap ? it->first : std::max(it->first, cursor_);
            uint64_t address = round_up(start + padding, alignment);
            if (address - padding + bytes > it->second) continue;
            cursor_ = address - padding + bytes;
            take(it, address - padding, cursor_);
            return address;
        }
    }
    return 0;
}

bool Arena::reserve_at(uint64_t address, uint64_t bytes) {
    if (!contains(address) || address - base_ < padding) return false;
    uint64_t begin = address - padding;
    auto hole = free_.upper_bound(begin);
    if (hole == free_.begin()) return false;
    --hole;
    if (begin >= hole->second || bytes > hole->second - begin) return false;
    take(hole, begin, begin + bytes);
    return true;
}

void Arena::take(std::map<uint64_t, uint64_t>::iterator hole, uint64_t begin, uint64_t end) {
    auto [hole_begin, hole_end] = *hole;
    free_.erase(hole);
    if (hole_begin < begin) free_[hole_begin] = begin;
    if (end < hole_end) free_[end] = hole_end;
}

uint64_t Arena::carve(uint64_t size, uint64_t alignment, uint64_t at) {
    if (size > size_ / 4) return 0;
    bool large = size >= 2 * huge_page;
    alignment = std::max<uint64_t>(alignment, large ? huge_page : 4096);
    uint64_t mapped = padding + round_up(size, 4096) + padding;
    uint64_t gap = round_up(std::clamp(size, smallest_gap, largest_gap), 4096);
    if (at % alignment || (at && !reserve_at(at, mapped + gap))) return 0;
    uint64_t address = at ? at : reserve(mapped + gap, alignment);
    if (!address) return 0;
    void *start = reinterpret_cast<void *>(address - padding);
    if (mprotect(start, mapped, PROT_READ | PROT_WRITE)) {
        free_[address - padding] = address - padding + mapped + gap;
        return 0;
    }
    if (large) madvise(reinterpret_cast<void *>(address), size, MADV_HUGEPAGE);
    uint64_t begin = address - padding;
    ++carved_;
    fill_padding(begin, address, carved_ << 48);
    fill_padding(address + size, begin + mapped, carved_ << 48);
    blocks_[address] = {begin, begin + mapped + gap, begin + mapped};
    return address;
}

void Arena::protect(uint64_t address, bool accessible, uint64_t reach) {
    auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    const Block &block = found->second;
    set_accessible(block.begin, std::min(block.mapped - block.begin, padding + std::min(reach, size_)), accessible);
}

void Arena::set_accessible(uint64_t address, uint64_t size, bool accessible) {
    void *start = reinterpret_cast<void *>(address);
    if (mprotect(start, size, accessible ? PROT_READ | PROT_WRITE : PROT_NONE)) std::abort();
}

void Arena::forget(uint64_t address, uint64_t size) {
    mmap(reinterpret_cast<void *>(address), size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
}

void Arena::release(uint64_t address) {
    auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    Block block = found->second;
    blocks_.erase(found);
    // A fresh mapping both drops the pages and joins the neighbours again.
    forget(block.begin, block.end - block.begin);
    auto next = free_.lower_bound(block.begin);
    if (next != free_.end() && next->first == block.end) {
        block.end = next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->second == block.begin) {
        std::prev(next)->second = block.end;
    } else {
        free_[block.begin] = block.end;
    }
}

}  // namespace emu
