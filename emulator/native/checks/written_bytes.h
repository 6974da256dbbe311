// Which bytes of a range of memory have been written.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace emu {

class WrittenBytes {
public:
    explicit WrittenBytes(uint64_t size);

    void clear();
    void mark(uint64_t offset, uint64_t size);
    void unmark(uint64_t offset, uint64_t size);
    // What a copy of `size` bytes takes along from another range.
    void copy(uint64_t offset, const WrittenBytes &from, uint64_t from_offset, uint64_t size);
    bool has(uint64_t offset, uint64_t size) const;
    bool has_none(uint64_t offset, uint64_t size) const;

private:
    struct Free {
        void operator()(void *pointer) const { std::free(pointer); }
    };
    uint64_t words_;
    // From calloc: pages that nobody touches cost nothing.
    std::unique_ptr<uint64_t[], Free> bits_;
};

}  // namespace emu
