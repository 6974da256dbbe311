// The slow path of the check of memory accesses: decides, reports, and keeps generated code from doing harm.
//
// What fails a launch: a store that misses, a misaligned access, and a load from where nothing is mapped. A load outside of an
// allocation, but not far from one, does no harm on hardware; it is reported all the same.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "block.h"
#include "memory.h"
#include "names.h"
#include "report.h"

using namespace emu;

namespace {

// Drivers map device memory in large pieces: on an H200 a load 64 MiB behind the only allocation went through.
constexpr uint64_t mapped_on_hardware = 64 << 20;

// Bytes that an access may touch.
struct Range {
    uint64_t begin = 0, end = 0;
    bool writable = true;
    bool contains(uint64_t address) const { return address - begin < end - begin; }
};

struct Access {
    const WarpContext *warp;
    const EmuSite *site;
    uint32_t lane;
    uint64_t address;
    bool is_write() const { return site->kind != EMU_LOAD; }
};

Range shared_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->shared);
    return {begin, begin + warp->shared_bytes};
}

Range local_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->local);
    return {begin, begin + uint64_t{warp->kernel->local_bytes} * 32};
}

Range parameter_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->params);
    return {begin, begin + warp->kernel->param_bytes, false};
}

Range global_range(const WarpContext *warp, uint64_t address) {
    const Allocation *found = warp->block->launch.memory->find(address);
    std::shared_ptr<const Allocation> fresh;  // made by the kernel itself (device-side malloc)
    if (!found) {
        fresh = memory().find(address);
        found = fresh.get();
    }
    if (!found) return {};
    return {found->begin, found->end, found->kind != MemoryKind::constant};
}

// The range that holds the first byte, as far as the state space of the access allows; empty when there is none.
Range range_of(const Access &access) {
    uint8_t space = access.site->space;
    if (space == EMU_SHARED) return shared_range(access.warp);
    if (space == EMU_LOCAL) return local_range(access.warp);
    if (space == EMU_PARAM) return parameter_range(access.warp);
    if (space == EMU_GENERIC) {
        for (Range window : {shared_range(access.warp), local_range(access.warp), parameter_range(access.warp)}) {
            if (window.contains(access.address)) return window;
        }
    }
    return global_range(access.warp, access.address);
}

std::string bytes(uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

std::string triple(const uint32_t values[3]) {
    return "(" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," + std::to_string(values[2]) + ")";
}

// Where an address that is in no allocation lies, in words; sets `allocation` to the one that is likely meant.
struct Place {
    std::string words, allocation;
    uint64_t distance = ~uint64_t{0};  // to the nearest allocation
};

Place place_of(const Access &access) {
    const MemoryView &view = *access.warp->block->launch.memory;
    uint64_t address = access.address, end = address + access.site->size;
    Place place;
    if (address < 1 << 16) {
        place.words = address ? "it was reached from a null pointer" : "it is a null pointer";
        return place;
    }
    if (!memory().in_device_range(address)) {
        if (address >> 47) {
            place.words = "it is no valid address at all";
        } else if (shared_range(access.warp).contains(address - 4096) || shared_range(access.warp).contains(address + 4096)) {
            place.words = "it lies beside the block's shared memory";
        } else {
            place.words = "it is not device memory, it looks like a host pointer";
        }
        return place;
    }
    std::string freed = memory().freed_label(address);
    if (!freed.empty()) {
        place.words = "it lies in " + freed + ", which has been freed";
        place.allocation = freed;
        return place;
    }
    const Allocation *before = view.before(address), *after = view.after(address);
    uint64_t past = before ? end - std::min(end, before->end) : ~uint64_t{0};
    uint64_t ahead = after ? after->begin - address : ~uint64_t{0};
    if (before && past <= ahead) {
        place.words = "it reaches " + bytes(past) + " past the end of " + before->label + " (" + bytes(before->size()) + ")";
        place.allocation = before->label;
        place.distance = address - std::min(address, before->end);
    } else if (after) {
        place.words = "it lies " + bytes(ahead) + " before the start of " + after->label + " (" + bytes(after->size()) + ")";
        place.allocation = after->label;
        place.distance = ahead;
    } else {
        place.words = "nothing is allocated there";
    }
    return place;
}

const char *space_word(uint8_t space) { return space == EMU_SHARED ? "shared " : space == EMU_LOCAL ? "local " : ""; }

// What is to be done about an access that is not good.
struct Ruling {
    std::string kind, words, allocation;
    cudaError_t error = cudaSuccess;  // what the launch fails with, if it does
    bool perform = false;             // the bytes are mapped and may be read
};

Ruling rule(const Access &access, const Range &range) {
    Ruling ruling;
    uint32_t size = access.site->size;
    uint8_t space = access.site->space;
    bool inside = range.contains(access.address) && access.address + size <= range.end;
    const char *verb = access.is_write() ? "write" : "read";
    if (inside && access.address % size) {
        ruling.kind = "misaligned access";
        ruling.words = "the address is not a multiple of " + std::to_string(size);
        ruling.error = cudaErrorMisalignedAddress;
        return ruling;
    }
    if (inside) {
        ruling.kind = "write to read-only memory";
        ruling.words = "it lies in constant memory";
        ruling.error = cudaErrorIllegalAddress;
        return ruling;
    }
    ruling.kind = std::string("out-of-bounds ") + space_word(space) + verb;
    if (access.is_write()) ruling.error = cudaErrorIllegalAddress;
    if (space == EMU_SHARED || space == EMU_LOCAL) {
        // The window's own end is meant, whatever lies behind it.
        uint64_t offset = access.address - range.begin, window = range.end - range.begin;
        ruling.words = "offset " + std::to_string(static_cast<int64_t>(offset)) + " of " + bytes(window) + " of " +
                       (space == EMU_SHARED ? "shared memory" : "local memory");
        ruling.allocation = space == EMU_SHARED ? "shared memory" : "local memory";
        return ruling;
    }
    Place place = place_of(access);
    ruling.words = place.words;
    ruling.allocation = place.allocation;
    bool freed = memory().in_device_range(access.address) && !memory().freed_label(access.address).empty();
    if (freed) ruling.kind = std::string(verb) + " after free";
    if (place.distance > mapped_on_hardware) {
        if (!freed) ruling.kind = std::string("illegal ") + verb;
        ruling.error = cudaErrorIllegalAddress;
    }
    ruling.perform = !access.is_write() && place.distance <= Arena::padding - size;
    return ruling;
}

void tell(const Access &access, const Ruling &ruling) {
    const WarpContext &warp = *access.warp;
    Fault fault;
    fault.kind = ruling.kind;
    fault.kernel = readable_name(warp.kernel->name);
    fault.file = access.site->file;
    fault.line = access.site->line;
    fault.address = access.address;
    fault.size = access.site->size;
    fault.allocation = ruling.allocation;
    fault.is_write = access.is_write();
    for (int axis = 0; axis < 3; ++axis) {
        fault.thread[axis] = warp.tid[axis][access.lane];
        fault.block[axis] = warp.ctaid[axis];
    }
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(access.address));
    std::string place = fault.line ? fault.file + ":" + std::to_string(fault.line) + " in " + fault.kernel : fault.kernel;
    fault.message = ruling.kind + " of " + bytes(fault.size) + " at " + place + ", thread " + triple(fault.thread) +
                    " of block " + triple(fault.block) + ": address " + address + ", " + ruling.words;
    if (ruling.error) warp.block->launch.doom(ruling.error, fault.message);
    report().add_fault(std::move(fault));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void emu_check_access(WarpContext *warp, uint32_t index,
                                                                        uint32_t mask, uint64_t address[32]) {
    const EmuSite &site = warp->kernel->sites[index];
    Launch &launch = warp->block->launch;
    bool scratch_cleared = false;
    Range last;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        Access access{warp, &site, lane, address[lane]};
        bool known = last.contains(access.address) && access.address + site.size <= last.end;
        Range range = known ? last : range_of(access);
        bool good = range.contains(access.address) && access.address + site.size <= range.end &&
                    access.address % site.size == 0 && (range.writable || !access.is_write());
        if (good) {
            last = range;
            continue;
        }
        Ruling ruling = rule(access, range);
        if (launch.first_at(index, ruling.error)) {
            tell(access, ruling);
        } else {
            report().count_fault();
        }
        if (ruling.perform) continue;
        if (!scratch_cleared) std::memset(warp->block->scratch, 0, sizeof warp->block->scratch);
        scratch_cleared = true;
        address[lane] = reinterpret_cast<uint64_t>(warp->block->scratch);
    }
    // The fast path takes this interval from now on; it presumes that its start is aligned.
    if (last.end && last.begin % 32 == 0 && warp->site_cache) {
        warp->site_cache[2 * index] = last.begin;
        warp->site_cache[2 * index + 1] = (last.end - last.begin) >> __builtin_ctz(site.size);
    }
}
