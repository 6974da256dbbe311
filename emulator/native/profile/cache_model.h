// A set-associative cache of 128-byte lines, each with four sectors of 32 bytes, that keeps no data: which sectors hit,
// and what has to be written back. Replaces the line used least recently.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

constexpr uint32_t sector_bytes = 32, line_bytes = 128;
// Where local memory lies for the caches: behind whatever has an address on the host.
constexpr uint64_t local_window = uint64_t{1} << 56;

class CacheModel {
public:
    CacheModel(uint64_t size_bytes, uint32_t ways);

    // The sectors (a bit each) of the line with this number (address / 128) that it has. They, and the others asked
    // for, are in it afterwards; `dirty` marks them as written.
    uint32_t touch(uint64_t line, uint32_t sectors, bool dirty);

    // Sectors that somebody asked for without waiting for them: marks them, until clean().
    void mark_ahead(uint64_t line, uint32_t sectors);
    // Those of the sectors that are marked; they are not any more.
    uint32_t take_ahead(uint64_t line, uint32_t sectors);

    // Sectors that had to be written back when their line was replaced, since the last call.
    uint64_t take_written();
    // Writes back what is dirty of the lines before `end`; it stays. Nobody needs the others any more. Returns the
    // number of sectors.
    uint64_t clean(uint64_t end);
    void clear();

private:
    struct Line {
        uint64_t number = 0;
        uint32_t used = 0;   // when; 0: never
        uint16_t epoch = 0;  // it is empty unless this is the cache's
        uint8_t valid = 0, dirty = 0, ahead = 0;
    };

    Line *find(Line *set, uint64_t number);
    Line *set_of(uint64_t number);

    uint32_t ways_;
    uint64_t sets_;
    uint16_t epoch_ = 1;
    uint32_t now_ = 0;
    uint64_t written_ = 0;
    std::vector<uint32_t> written_to_;  // lines that became dirty since the last clean()
    std::vector<uint32_t> ahead_in_;    // lines with marks since the last clean()
    std::vector<Line> lines_;
};

}  // namespace emu
