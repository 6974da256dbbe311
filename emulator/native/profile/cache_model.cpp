#include "profile/cache_model.h"

#include <algorithm>

namespace emu {

CacheModel::CacheModel(uint64_t size_bytes, uint32_t ways)
    : ways_(ways), sets_(std::max<uint64_t>(1, size_bytes / line_bytes / ways)), lines_(sets_ * ways_) {}

// Scrambled, as hardware does, so that powers of two between rows do not meet in one set.
CacheModel::Line *CacheModel::set_of(uint64_t number) {
    uint64_t mixed = number * 0x9e3779b97f4a7c15;
    uint64_t set = static_cast<uint64_t>((static_cast<unsigned __int128>(mixed) * sets_) >> 64);
    return &lines_[set * ways_];
}

CacheModel::Line *CacheModel::find(Line *set, uint64_t number) {
    for (Line *line = set; line != set + ways_; ++line) {
        if (line->number == number && line->epoch == epoch_) return line;
    }
    return nullptr;
}

uint32_t CacheModel::touch(uint64_t number, uint32_t sectors, bool dirty) {
    if (++now_ == UINT32_MAX) {  // all are old, then; which is the oldest is forgotten
        for (Line &line : lines_) line.used = 0;
        now_ = 1;
    }
    Line *set = set_of(number), *line = find(set, number);
    uint32_t had = 0;
    if (line) {
        had = line->valid & sectors;
    } else {
        line = set;
        for (Line *other = set; other != set + ways_; ++other) {
            if (other->epoch != epoch_) {
                line = other;
                break;
            }
            if (other->used < line->used) line = other;
        }
        if (line->epoch == epoch_) written_ += __builtin_popcount(line->dirty);
        *line = {number, 0, epoch_, 0, 0, 0};
    }
    line->used = now_;
    line->valid |= static_cast<uint8_t>(sectors);
    if (dirty) {
        if (!line->dirty) written_to_.push_back(static_cast<uint32_t>(line - lines_.data()));
        line->dirty |= static_cast<uint8_t>(sectors);
    }
    return had;
}

void CacheModel::mark_ahead(uint64_t number, uint32_t sectors) {
    Line *line = find(set_of(number), number);
    if (!line) return;
    if (!line->ahead) ahead_in_.push_back(static_cast<uint32_t>(line - lines_.data()));
    line->ahead |= static_cast<uint8_t>(sectors);
}

uint32_t CacheModel::take_ahead(uint64_t number, uint32_t sectors) {
    if (ahead_in_.empty()) return 0;
    Line *line = find(set_of(number), number);
    uint32_t found = line ? line->ahead & sectors : 0;
    if (found) line->ahead &= static_cast<uint8_t>(~found);
    return found;
}

uint64_t CacheModel::take_written() {
    uint64_t written = written_;
    written_ = 0;
    return written;
}

uint64_t CacheModel::clean(uint64_t end) {
    uint64_t sectors = 0;
    for (uint32_t index : written_to_) {
        Line &line = lines_[index];
        if (line.epoch == epoch_ && line.number < end) sectors += __builtin_popcount(line.dirty);
        line.dirty = 0;
    }
    written_to_.clear();
    for (uint32_t index : ahead_in_) lines_[index].ahead = 0;
    ahead_in_.clear();
    return sectors;
}

void CacheModel::clear() {
    written_ = 0;
    written_to_.clear();
    ahead_in_.clear();
    if (++epoch_) return;
    std::fill(lines_.begin(), lines_.end(), Line{});
    epoch_ = 1;
}

}  // namespace emu
