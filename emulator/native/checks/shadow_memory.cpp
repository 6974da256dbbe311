#include "checks/shadow_memory.h"

#include <algorithm>

namespace emu {

static_assert(sizeof(Trace) == 8 && sizeof(Cell) == 24);

void Cells::clear() {
    std::fill(words_.begin(), words_.end(), Cell{});
    bytes_.clear();
}

void Cells::forget(uint64_t offset, uint64_t size) {
    auto first = words_.begin() + offset / 4;
    std::fill(first, first + std::min<uint64_t>(size / 4, words_.end() - first), Cell{});
}

Cell *Cells::split(Cell &word) {
    constexpr uint32_t per_block = 1024;
    if (word.write.empty() && word.write.site == split_mark) {
        return bytes_[uint64_t{word.read.block} * per_block + word.read.thread].of;
    }
    size_t index = bytes_.size();
    bytes_.push_back({{word, word, word, word}});
    word = {};
    word.write.site = split_mark;
    word.read.thread = index % per_block;
    word.read.block = index / per_block;
    return bytes_.back().of;
}

void GlobalCells::forget(uint64_t address, uint64_t size) {
    for (uint64_t end = address + size; address < end;) {
        uint64_t offset = address % page_bytes, part = std::min(end - address, page_bytes - offset);
        auto found = pages_.find(address / page_bytes);
        if (found != pages_.end()) found->second->forget(offset, part);
        address += part;
    }
}

Cells *GlobalCells::find(uint64_t address) {
    uint64_t page = address / page_bytes;
    auto found = pages_.find(page);
    if (found != pages_.end()) return found->second.get();
    const Allocation *allocation = memory_.find(address);
    if (!allocation || allocation->kind == MemoryKind::constant) return nullptr;
    if (pages_.size() >= max_pages) {
        unchecked_.insert(allocation->label);
        return nullptr;
    }
    return pages_.emplace(page, std::make_unique<Cells>(page_bytes / 4)).first->second.get();
}

}  // namespace emu
