// racecheck's shadow memory: the last write and the reads since of each four-byte word.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/vector_clocks.h"
#include "exec/memory.h"

namespace emu {

// One thread's access. Clocks beyond max_clock, and blocks and sites that do not fit, are not kept at all.
struct Trace {
    static constexpr Clock max_clock = (1u << 20) - 1;
    static constexpr uint64_t max_blocks = 1u << 21;
    static constexpr uint32_t max_sites = 1u << 12;

    uint64_t clock : 20, site : 12, thread : 10, block : 21, strong : 1;

    bool empty() const { return clock == 0; }
};

struct Cell {
    Trace write, read,
        other;  // two reads by different threads, if possible of different warps, neither known to the other
};

// Cells of one range of memory. A word of which parts are accessed gets cells for its bytes.
class Cells {
public:
    explicit Cells(size_t words) : words_(words) {}
    void clear();
    // The words that lie in `size` bytes from `offset`, a multiple of four, are as if nobody had accessed them.
    void forget(uint64_t offset, uint64_t size);
    // Calls `visit` for the cells of `size` bytes from `offset`, a multiple of `size`, until it returns true.
    template <class Visit>
    void each(uint64_t offset, uint32_t size, Visit visit) {
        if (size < 4) {
            Cell *bytes = split(words_[offset / 4]);
            for (uint32_t i = 0; i < size; ++i) {
                if (visit(bytes[offset % 4 + i])) return;
            }
            return;
        }
        for (uint64_t word = offset / 4; word < (offset + size) / 4; ++word) {
            Cell &cell = words_[word];
            if (!is_split(cell)) {
                if (visit(cell)) return;
                continue;
            }
            Cell *bytes = split(cell);
            for (int i = 0; i < 4; ++i) {
                if (visit(bytes[i])) return;
            }
        }
    }

    // All accesses so far are of this time.
    void set_clocks(Clock clock);
    // Calls `visit(own, theirs, offset)` for the cells of a range of the same size that somebody has accessed.
    template <class Visit>
    void meet(Cells &others, Visit visit) {
        for (uint64_t word = 0; word < words_.size(); ++word) {
            Cell &own = words_[word], &theirs = others.words_[word];
            if (is_split(own) || is_split(theirs)) {
                Cell *bytes = split(own), *their_bytes = others.split(theirs);
                for (int i = 0; i < 4; ++i) visit(bytes[i], their_bytes[i], 4 * word + i);
            } else {
                visit(own, theirs, 4 * word);
            }
        }
    }

private:
    // A write without a clock but with this site: `read.thread` and `read.block` say where the bytes' cells are.
    static constexpr uint32_t split_mark = Trace::max_sites - 1;
    static bool is_split(const Cell &word) { return word.write.empty() && word.write.site == split_mark; }
    struct Bytes {
        Cell of[4];
    };
    Cell *split(Cell &word);

    std::vector<Cell> words_;
    std::deque<Bytes> bytes_;
};

using CellPages = std::unordered_map<uint64_t, std::unique_ptr<Cells>>;

// As Cells::forget. Pages that were not touched yet stay unmade.
void forget_cells(CellPages &pages, uint64_t address, uint64_t size);

// Cells of global memory, made where it is touched.
class GlobalCells {
public:
    static constexpr uint64_t page_bytes = 4096;
    // Cells take six times the memory that they are for: one GiB is enough for 170 MB.
    static constexpr size_t max_pages = (size_t{1} << 30) / (page_bytes / 4 * sizeof(Cell));

    explicit GlobalCells(const MemoryView &memory) : memory_(memory) {}

    // Null for what is not checked: addresses outside of allocations, and what is too much.
    Cells *page_of(uint64_t address) {
        uint64_t page = address / page_bytes;
        Recent &recent = recent_[page % recent_pages];
        if (recent.page != page) recent = {page, find(address)};
        return recent.cells;
    }

    void forget(uint64_t address, uint64_t size) { forget_cells(pages_, address, size); }
    // What was touched; nothing may be from now on.
    CellPages take_pages() { return std::move(pages_); }

    // Allocations of which some part is not checked.
    const std::set<std::string> &unchecked() const { return unchecked_; }

private:
    static constexpr size_t recent_pages = 256;
    struct Recent {
        uint64_t page = ~uint64_t{0};
        Cells *cells = nullptr;
    };

    Cells *find(uint64_t address);

    const MemoryView &memory_;
    Recent recent_[recent_pages];
    CellPages pages_;
    std::set<std::string> unchecked_;
};

}  // namespace emu
