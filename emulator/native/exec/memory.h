// The table of all memory that kernels may access: device, managed and pinned memory, and the variables of modules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "checks/written_bytes.h"
#include "exec/arena.h"
#include "exec/backing_file.h"

namespace emu {

// What memory holds that nobody has written: nothing may count on zeros there. Bytes that make a large finite number of
// every type (1.3e36 as a float, 61280 as a half), so that zero times it is zero, and it shows in sums and maxima.
constexpr unsigned char garbage = 0x7b;

enum class MemoryKind : uint8_t {
    device,
    managed,
    pinned_host,
    registered_host,
    variable,
    constant,
    heap,
    managed_variable,
    array,
    mapped,   // at addresses that the program reserved (exec/virtual_memory.h)
    imported  // another process's
};

// Whether host code may use it, too.
bool shared_with_host(MemoryKind kind);

struct Allocation {
    uint64_t begin, end;  // exactly what was asked for
    MemoryKind kind;
    std::string label;  // what reports call it: "output", "cudaMalloc #3", "__constant__ weights"
    unsigned flags;     // as given to cudaHostAlloc and the like
    std::shared_ptr<WrittenBytes> written = nullptr;  // null: all of it, as far as is known

    uint64_t size() const { return end - begin; }
    bool is_read_only() const { return kind == MemoryKind::mapped && !(flags & mapped_writable); }

    static constexpr unsigned mapped_writable = 1;  // in `flags`
};

// The table as it was at one moment: a launch works on one of these without locks.
class MemoryView {
public:
    explicit MemoryView(std::vector<std::shared_ptr<const Allocation>> sorted);

    // The allocation that has the byte at `address`, or null.
    const Allocation *find(uint64_t address) const;
    // The nearest allocation that ends at or before `address`, or null.
    const Allocation *before(uint64_t address) const;
    // The nearest allocation that begins behind `address`, or null.
    const Allocation *after(uint64_t address) const;
    const std::vector<std::shared_ptr<const Allocation>> &all() const { return sorted_; }

private:
    std::vector<std::shared_ptr<const Allocation>> sorted_;
    std::vector<uint64_t> begins_;
};

class Memory {
public:
    // How much of `device`, `managed` and `array` memory there is. Set once, before use.
    void set_capacity(uint64_t bytes, bool is_limit);
    uint64_t capacity() const { return capacity_; }
    uint64_t in_use() const;
    // Whether the capacity was set by the user of the emulator (and not by the machine's own memory).
    bool capacity_is_limit() const { return capacity_is_limit_; }

    // Zeroed memory, or 0 when the capacity or the machine does not allow it. An empty label makes one from `call`. It
    // is at `at`, when that is not 0, or nowhere.
    uint64_t allocate(uint64_t size, uint64_t alignment, MemoryKind kind, const std::string &label, const char *call,
                      unsigned flags = 0, uint64_t at = 0);
    // Leaves the addresses that a recorded program had to allocations that ask for them.
    void prefer_upper_half();
    // False when nothing begins there, or when `kinds` (a bit for each MemoryKind) leaves out what does.
    bool release(uint64_t address, unsigned kinds);

    // Moves an allocation of `device` memory into a file, so that other processes can have it; the same one each time.
    // Null when there is no such allocation, or no room. It takes a DeviceAccess; kernels must not run meanwhile.
    std::shared_ptr<BackingFile> share(uint64_t address);
    // The first `size` bytes of another process's file, as memory of `kind`; 0 when there is no room.
    uint64_t import(std::shared_ptr<BackingFile> file, uint64_t size, MemoryKind kind, const char *call);

    // Addresses without memory; 0 when there are none. Others change what they are mapped to.
    uint64_t reserve(uint64_t size, uint64_t alignment, uint64_t at);
    void unreserve(uint64_t address, uint64_t size, const std::string &label);
    // The memory at reserved addresses from `begin` to `end` is this from now on, all of it `mapped`.
    void set_mapped(uint64_t begin, uint64_t end, const std::vector<Allocation> &now);
    // A name for something new: "cuMemMap #3".
    std::string new_label(const char *call);
    // Memory that no allocation has takes part in in_use(), or no longer. False when the capacity does not allow it.
    bool charge(uint64_t bytes);
    void discharge(uint64_t bytes);

    // Releases all of these kinds.
    void release_all(unsigned kinds);

    // From now on it is known which bytes of an allocation have been written: none yet. Not for the very large: false.
    bool track_writes(uint64_t address);
    // Everything counts as written.
    void forget_writes();

    // Makes memory of the host visible to kernels (cudaHostRegister). False when it overlaps what is known already.
    bool register_host(uint64_t address, uint64_t size, unsigned flags);

    std::shared_ptr<const MemoryView> view();
    std::shared_ptr<const Allocation> find(uint64_t address) const;
    // The label of the freed allocation that had `address` last; empty when none did.
    std::string freed_label(uint64_t address) const;
    // While there is a shield, what is the device's alone faults when the host's code touches it, as it does with a
    // GPU; the emulator itself takes a DeviceAccess. Without one (the default) hosts may access all memory. It costs
    // time with the number of pages, each time: `reach` leaves most of large allocations out of it.
    void set_shield(bool on, uint64_t reach = ~uint64_t{0});
    void open();
    void close();

    bool in_device_range(uint64_t address) const { return arena_.contains(address); }

private:
    void protect_all(bool accessible);
    void protect(const Allocation &allocation, bool accessible);
    void enter(Allocation allocation);
    void remember(std::shared_ptr<const Allocation> freed);
    std::string name_after(const char *call);
    bool is_closed() const { return shielded_ && !accesses_; }
    bool fits(uint64_t bytes) const { return bytes <= capacity_ - std::min(capacity_, in_use_); }
    bool counts(MemoryKind kind) const {
        return kind == MemoryKind::device || kind == MemoryKind::managed || kind == MemoryKind::array;
    }

    mutable std::mutex mutex_;
    Arena arena_;
    std::map<uint64_t, std::shared_ptr<const Allocation>> table_;
    std::map<uint64_t, std::shared_ptr<BackingFile>> files_;  // of allocations that processes share, by address
    std::deque<std::shared_ptr<const Allocation>> freed_;
    std::shared_ptr<const MemoryView> view_;
    uint64_t capacity_ = 8ull << 30, in_use_ = 0;
    bool capacity_is_limit_ = false;
    bool shielded_ = false;
    uint64_t shield_reach_ = 0;
    unsigned accesses_ = 0;  // how many DeviceAccess there are
    unsigned ordinal_ = 0;
};

constexpr unsigned kind_bit(MemoryKind kind) { return 1u << static_cast<unsigned>(kind); }

Memory &memory();

// Makes a new allocation hold what nobody may count on. Of large ones only the first part: the rest costs nothing until
// somebody uses it.
void spoil(uint64_t address, uint64_t size);

// For as long as it exists, this process may touch the device's memory: for launches, copies and initial values.
class DeviceAccess {
public:
    DeviceAccess() { memory().open(); }
    ~DeviceAccess() { memory().close(); }
    DeviceAccess(const DeviceAccess &) = delete;
    DeviceAccess &operator=(const DeviceAccess &) = delete;
};

}  // namespace emu
