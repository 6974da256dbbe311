// Device memory in an unnamed file: the same bytes can lie at several addresses, and in other processes.
#pragma once

#include <cstdint>
#include <memory>

namespace emu {

class BackingFile {
public:
    // A file of zeros; null where the machine has no memory for its pages' table.
    static std::shared_ptr<BackingFile> create(uint64_t size);
    // The file behind a descriptor, which stays the caller's; null where it is none that create() made.
    static std::shared_ptr<BackingFile> open(int descriptor);
    // The file that process `process` has as its descriptor number `descriptor`; null where that is not file `number`.
    static std::shared_ptr<BackingFile> open_of_process(int process, int descriptor, uint64_t number);
    ~BackingFile();
    BackingFile(const BackingFile &) = delete;

    uint64_t size() const { return size_; }
    int descriptor() const { return descriptor_; }
    // No other file has it while this one exists.
    uint64_t number() const { return number_; }

    // Puts its first `size` bytes, rounded up to pages, in place of what is mapped at `address`.
    bool map(uint64_t address, uint64_t size) const;
    // Its first `size` bytes; false where it has fewer, or there is no room to see them.
    bool write(const void *bytes, uint64_t size) const;
    bool fill(unsigned char byte, uint64_t size) const;
    bool read(void *bytes, uint64_t size) const;

private:
    template <class Use>
    bool use(uint64_t size, Use use) const;
    explicit BackingFile(int descriptor);

    int descriptor_;
    uint64_t size_ = 0, number_ = 0;
};

}  // namespace emu
