// Records what a program does on the device, step by step, so that a process without the program's host code can repeat
// it (replay/replay.cpp). A step is its number and then what pass() below writes.
//
// Steps are recorded where the work is done, not where it is requested: a graph's nodes are recorded each time they
// run. Host writes to memory that is shared with the device are found by comparing that memory with a copy before
// anything may read it. Recording is off until begin().
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "api/copy.h"
#include "exec/images.h"
#include "exec/memory.h"
#include "report/wire.h"

namespace emu {

enum class Step : uint32_t {
    allocate = 1,
    release,
    variable,
    limit,
    launch,
    fill,
    copy,
    write,
    read,
    call,
    host_register,
    host,
    image,
    image_release
};

struct AllocateStep {
    static constexpr Step number = Step::allocate;
    uint64_t address, size;
    MemoryKind kind;
};

struct ReleaseStep {
    static constexpr Step number = Step::release;
    uint64_t address;
};

// A module is loaded, and this variable of it got its place.
struct VariableStep {
    static constexpr Step number = Step::variable;
    uint64_t module;
    std::string name;
    uint64_t address;
    MemoryKind kind;
};

struct LimitStep {
    static constexpr Step number = Step::limit;
    uint32_t which;
    uint64_t value;
};

struct LaunchStep {
    static constexpr Step number = Step::launch;
    uint64_t module;
    std::string kernel;  // mangled
    uint32_t grid[3], block[3];
    uint64_t dynamic_shared;
    uint32_t cooperative;
    uint32_t cluster[3];  // as the launch asked for; zeros: it did not
    std::string params;
};

// A box of rows in the device's address space.
struct Region {
    uint64_t at, pitch, slice;
};

struct FillStep {
    static constexpr Step number = Step::fill;
    Region to;
    Box box;
    uint32_t value, element;
};

struct CopyStep {
    static constexpr Step number = Step::copy;
    Region to, from;
    Box box;
};

// From the host. `data` has the rows without gaps.
struct WriteStep {
    static constexpr Step number = Step::write;
    Region to;
    Box box;
    std::string data;
};

// To the host, which may go on as it likes with what it reads.
struct ReadStep {
    static constexpr Step number = Step::read;
    uint64_t size;
};

// What follows belongs to the program's next call.
struct CallStep {
    static constexpr Step number = Step::call;
};

// The program may hand its own memory to kernels, which a replay has nothing of.
struct HostRegisterStep {
    static constexpr Step number = Step::host_register;
};

// The processor time that the program's own code took on the host in this call, in nanoseconds: while the device had
// nothing to do, and beside it.
struct HostStep {
    static constexpr Step number = Step::host;
    uint64_t alone_ns, overlapped_ns;
};

// A texture or surface object is made, or destroyed.
struct ImageStep {
    static constexpr Step number = Step::image;
    uint64_t handle;
    ImageObject object;
};

struct ImageReleaseStep {
    static constexpr Step number = Step::image_release;
    uint64_t handle;
};

template <class Wire>
void pass(Wire &wire, ImageStep &it) {
    wire(it.handle, it.object);
}
template <class Wire>
void pass(Wire &wire, ImageReleaseStep &it) {
    wire(it.handle);
}
template <class Wire>
void pass(Wire &, CallStep &) {}
template <class Wire>
void pass(Wire &wire, HostStep &it) {
    wire(it.alone_ns, it.overlapped_ns);
}
template <class Wire>
void pass(Wire &, HostRegisterStep &) {}
template <class Wire>
void pass(Wire &wire, AllocateStep &it) {
    wire(it.address, it.size, it.kind);
}
template <class Wire>
void pass(Wire &wire, ReleaseStep &it) {
    wire(it.address);
}
template <class Wire>
void pass(Wire &wire, VariableStep &it) {
    wire(it.module, it.name, it.address, it.kind);
}
template <class Wire>
void pass(Wire &wire, LimitStep &it) {
    wire(it.which, it.value);
}
template <class Wire>
void pass(Wire &wire, LaunchStep &it) {
    wire(it.module, it.kernel, it.grid, it.block, it.dynamic_shared, it.cooperative, it.cluster, it.params);
}
template <class Wire>
void pass(Wire &wire, Region &it) {
    wire(it.at, it.pitch, it.slice);
}
template <class Wire>
void pass(Wire &wire, Box &it) {
    wire(it.width, it.height, it.depth);
}
template <class Wire>
void pass(Wire &wire, FillStep &it) {
    wire(it.to, it.box, it.value, it.element);
}
template <class Wire>
void pass(Wire &wire, CopyStep &it) {
    wire(it.to, it.from, it.box);
}
template <class Wire>
void pass(Wire &wire, WriteStep &it) {
    wire(it.to, it.box, it.data);
}
template <class Wire>
void pass(Wire &wire, ReadStep &it) {
    wire(it.size);
}

class Recording {
public:
    // From now on, until the next begin(). Of what is there already nothing is known.
    void begin(uint64_t max_bytes);
    bool is_on() const { return on_.load(std::memory_order_relaxed); }

    template <class Noted>
    void add(const Noted &step) {
        if (!is_on()) return;
        std::lock_guard lock(mutex_);
        append(step);
    }

    // The host may write this memory from now on, which is as a replay will find it.
    void share_with_host(uint64_t address, uint64_t size);
    // Before a launch, and after it: what the host has written is noted, what the kernel has written is known.
    void note_host_writes();
    void note_device_writes();
    // Before the copy is made.
    void note_copy(Plane to, Plane from, Box box);

    // What was noted so far. False when that was more than may be: then it is not all.
    bool take(std::string *out);

private:
    template <class Noted>
    void append(const Noted &step) {
        append_bytes(Writer()(Noted::number, step).bytes);
    }
    void append_bytes(const std::string &bytes);
    void note_host_writes_locked();
    void write_from_host(Plane to, Plane from, Box box);

    std::atomic<bool> on_{false};
    std::mutex mutex_;
    std::string steps_;
    uint64_t max_bytes_ = 0;
    bool whole_ = true;
    std::map<uint64_t, std::string> shared_;  // what memory that the host shares held when it was looked at last
};

Recording &recording();

}  // namespace emu
