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
    if (is_split(word)) {
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

void Cells::set_clocks(Clock clock) {
    auto set = [clock](Cell &cell) {
        for (Trace *trace : {&cell.write, &cell.read, &cell.other}) {
            if (!trace->empty()) trace->clock = clock;
        }
    };
    for (Cell &word : words_) {
        if (!is_split(word)) set(word);
    }
    for (Bytes &bytes : bytes_) std::for_each_n(bytes.of, 4, set);
}

void forget_cells(CellPages &pages, uint64_t address, uint64_t size) {
    constexpr uint64_t page_bytes = GlobalCells::page_bytes;
    for (uint64_t end = address + size; address < end;) {
        uint64_t offset = address % page_bytes, part = std::min(end - address, page_bytes - offset);
        auto found = pages.find(address / page_bytes);
        if (found != pages.end()) found->second->forget(offset, part);
        address += part;
    }
}

Cells *GlobalCells::find(uint64_t address) {
    uint64_t page = address / page_bytes;
    auto found = pages_.find(page);
    if (found != pages_.end()) return found->second.get();
    const Allocation *allocation = memory_.find(address);
    if (!allocation) return nullptr;
    if (pages_.size() >= max_pages) {
        unchecked_.insert(allocation->label);
        return nullptr;
    }
    return pages_.emplace(page, std::make_unique<Cells>(page_bytes / 4)).first->second.get();
}

}  // namespace emu
