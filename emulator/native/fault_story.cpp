// A bad access in words: what was meant, and by how much it missed.

#include <algorithm>
#include <cstdio>
#include <string>

#include "block.h"
#include "faults.h"
#include "memory.h"
#include "names.h"
#include "report.h"

namespace emu {

namespace {

struct Story {
    std::string kind, words, allocation;
};

std::string bytes(uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

std::string triple(const uint32_t values[3]) {
    return "(" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," + std::to_string(values[2]) + ")";
}

// Outside of the arena: it cannot be memory of the device.
std::string foreign_address(const Access &access) {
    uint64_t address = access.address, shared = reinterpret_cast<uint64_t>(access.warp->shared);
    if (!address) return "it is a null pointer";
    if (address < 1 << 16) return "it was reached from a null pointer";
    if (address >> 47) return "it is no valid address at all";
    if (address - shared < access.warp->shared_bytes + 4096 || shared - address <= 4096) {
        return "it lies beside the block's shared memory";
    }
    return "it is not device memory, it looks like a host pointer";
}

// In the arena, but in no allocation.
void find_neighbour(const Access &access, Story &story) {
    const MemoryView &view = *access.warp->block->launch.memory;
    uint64_t address = access.address, end = address + access.site->size;
    const Allocation *before = view.before(address), *after = view.after(address);
    uint64_t past = before ? end - std::min(end, before->end) : ~uint64_t{0};
    uint64_t ahead = after ? after->begin - address : ~uint64_t{0};
    if (before && past <= ahead) {
        story.words = "it reaches " + bytes(past) + " past the end of " + before->label + " (" + bytes(before->size()) + ")";
        story.allocation = before->label;
    } else if (after) {
        story.words = "it lies " + bytes(ahead) + " before the start of " + after->label + " (" + bytes(after->size()) + ")";
        story.allocation = after->label;
    } else {
        story.words = "nothing is allocated there";
    }
}

Story story_of(const Access &access, const Range &range, const Ruling &ruling) {
    const char *verb = access.is_write() ? "write" : "read";
    switch (ruling.miss) {
        case Miss::misaligned:
            return {"misaligned access", "the address is not a multiple of " + std::to_string(access.site->size), ""};
        case Miss::read_only: return {"write to read-only memory", "it lies in constant memory", ""};
        case Miss::shared:
        case Miss::local: {
            // The window's own end is meant, whatever lies behind it.
            std::string space = ruling.miss == Miss::shared ? "shared" : "local";
            std::string offset = std::to_string(static_cast<int64_t>(access.address - range.begin));
            return {"out-of-bounds " + space + " " + verb,
                    "offset " + offset + " of " + bytes(range.end - range.begin) + " of " + space + " memory",
                    space + " memory"};
        }
        case Miss::global: break;
    }
    Story story{std::string(ruling.far ? "illegal " : "out-of-bounds ") + verb, "", ""};
    if (!memory().in_device_range(access.address)) {
        story.words = foreign_address(access);
        return story;
    }
    std::string freed = memory().freed_label(access.address);
    if (freed.empty()) {
        if (ruling.far) story.words = "nothing is allocated anywhere near";
        else find_neighbour(access, story);
        return story;
    }
    return {std::string(verb) + " after free", "it lies in " + freed + ", which has been freed", freed};
}

}  // namespace

void tell(const Access &access, const Range &range, const Ruling &ruling) {
    const WarpContext &warp = *access.warp;
    Story story = story_of(access, range, ruling);
    Fault fault;
    fault.kind = story.kind;
    fault.kernel = readable_name(warp.kernel->name);
    fault.file = access.site->file;
    fault.line = access.site->line;
    fault.address = access.address;
    fault.size = access.site->size;
    fault.allocation = story.allocation;
    fault.is_write = access.is_write();
    for (int axis = 0; axis < 3; ++axis) {
        fault.thread[axis] = warp.tid[axis][access.lane];
        fault.block[axis] = warp.ctaid[axis];
    }
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(access.address));
    std::string place = fault.line ? fault.file + ":" + std::to_string(fault.line) + " in " + fault.kernel : fault.kernel;
    fault.message = fault.kind + " of " + bytes(fault.size) + " at " + place + ", thread " + triple(fault.thread) +
                    " of block " + triple(fault.block) + ": address " + address + ", " + story.words;
    if (ruling.error) warp.block->launch.doom(ruling.error, fault.message);
    report().add_fault(std::move(fault));
}

}  // namespace emu
