#include "checks/written_bytes.h"

#include <algorithm>
#include <new>

namespace emu {

WrittenBytes::WrittenBytes(uint64_t size)
    : words_((size + 63) / 64), bits_(static_cast<uint64_t *>(std::calloc(words_ + 1, sizeof(uint64_t)))) {
    if (!bits_) throw std::bad_alloc();
}

void WrittenBytes::clear() { std::fill_n(bits_.get(), words_, 0); }

namespace {

// Calls visit(word, bits) for the words that hold bits offset .. offset + size; stops when it returns false.
template <class Visit>
bool each_word(uint64_t offset, uint64_t size, Visit visit) {
    while (size) {
        uint64_t first = offset % 64, count = std::min(size, 64 - first);
        uint64_t bits = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
        if (!visit(offset / 64, bits)) return false;
        offset += count;
        size -= count;
    }
    return true;
}

}  // namespace

void WrittenBytes::mark(uint64_t offset, uint64_t size) {
    each_word(offset, size, [&](uint64_t word, uint64_t bits) {
        bits_[word] |= bits;
        return true;
    });
}

void WrittenBytes::unmark(uint64_t offset, uint64_t size) {
    each_word(offset, size, [&](uint64_t word, uint64_t bits) {
        bits_[word] &= ~bits;
        return true;
    });
}

bool WrittenBytes::has(uint64_t offset, uint64_t size) const {
    return each_word(offset, size, [&](uint64_t word, uint64_t bits) { return (bits_[word] & bits) == bits; });
}

bool WrittenBytes::has_none(uint64_t offset, uint64_t size) const {
    return each_word(offset, size, [&](uint64_t word, uint64_t bits) { return (bits_[word] & bits) == 0; });
}

void WrittenBytes::copy(uint64_t offset, const WrittenBytes &from, uint64_t from_offset, uint64_t size) {
    while (size) {
        uint64_t first = offset % 64, count = std::min(size, 64 - first);
        uint64_t low = from_offset % 64, source = from.bits_[from_offset / 64] >> low;
        if (low) source |= from.bits_[from_offset / 64 + 1] << (64 - low);  // there is one word more than needed
        uint64_t bits = (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
        uint64_t &word = bits_[offset / 64];
        word = (word & ~bits) | (source << first & bits);
        offset += count;
        from_offset += count;
        size -= count;
    }
}

}  // namespace emu
