#include "api/copy.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "checks/call_errors.h"
#include "replay/host_clock.h"
#include "checks/task_races.h"
#include "exec/memory.h"
#include "replay/recording.h"

namespace emu {

namespace {

constexpr size_t beyond_all = ~size_t{0};

// The bytes from the first to the last that the box covers; `beyond_all` where they would not fit into the address
// space.
size_t reach(Plane plane, Box box) {
    size_t slices, rows, sum, end;
    bool over = __builtin_mul_overflow(box.depth - 1, plane.slice, &slices) ||
                __builtin_mul_overflow(box.height - 1, plane.pitch, &rows) ||
                __builtin_add_overflow(slices, rows, &sum) || __builtin_add_overflow(sum, box.width, &sum) ||
                __builtin_add_overflow(sum, reinterpret_cast<size_t>(plane.at), &end);
    return over ? beyond_all : sum;
}

// Whether slices begin before those in front of them have ended.
bool slices_overlap(Plane plane, Box box) {
    return box.depth > 1 && plane.slice < reach(plane, {box.width, box.height, 1});
}

bool is_one_row(Box box) { return box.height == 1 && box.depth == 1; }

// The device's own addresses must be those of live allocations, whatever side they are on.
bool valid_somewhere(const void *pointer, size_t size) {
    return !memory().in_device_range(reinterpret_cast<uint64_t>(pointer)) || on_device(pointer, size);
}

// Says why `size` bytes at `pointer` are not the device's, or not all of them.
void explain_range(const char *verb, const char *side, const void *pointer, size_t size, cudaMemcpyKind kind) {
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    std::string bytes = std::to_string(size) + " bytes ";
    auto found = memory().find(address);
    if (found) {
        explain("copy past the end", bytes + verb + " " + describe_address(address) + ", which has " +
                                         std::to_string(found->end - address) + " from there");
    } else if (kind != cudaMemcpyDefault && !memory().in_device_range(address)) {
        explain("wrong copy direction", std::string("the ") + side +
                                            " should be the device's by the kind of copy, and is " +
                                            describe_address(address));
    } else {
        explain("copy outside of allocations", bytes + verb + " " + describe_address(address));
    }
}

// Explains that.
bool refuses_writes(const void *pointer) {
    auto found = memory().find(reinterpret_cast<uint64_t>(pointer));
    if (!found || !found->is_read_only()) return false;
    explain("", "it writes to " + found->label + ", which cuMemSetAccess has made read-only");
    return true;
}

bool empty(Box box) { return !box.width || !box.height || !box.depth; }

// A row that the host, or a copy, is about to write: of device memory it is known from now on, or as well as its source
// is.
void note_row(const char *to, const char *from, size_t size) {
    auto target = memory().find(reinterpret_cast<uint64_t>(to));
    if (!target || !target->written) return;
    uint64_t offset = reinterpret_cast<uint64_t>(to) - target->begin;
    auto source = from ? memory().find(reinterpret_cast<uint64_t>(from)) : nullptr;
    if (source && source->written) {
        target->written->copy(offset, *source->written, reinterpret_cast<uint64_t>(from) - source->begin, size);
    } else {
        target->written->mark(offset, size);
    }
}

}  // namespace

size_t slice_of(const cudaPitchedPtr &whole) {
    size_t slice;
    return __builtin_mul_overflow(whole.pitch, whole.ysize, &slice) ? beyond_all : slice;
}

Plane part_of(const cudaPitchedPtr &whole, const cudaPos &from) {
    size_t slice = slice_of(whole);
    return {static_cast<char *>(whole.ptr) + from.z * slice + from.y * whole.pitch + from.x, whole.pitch, slice};
}

bool on_device(const void *pointer, size_t size) {
    uint64_t begin = reinterpret_cast<uint64_t>(pointer);
    auto found = memory().find(begin);
    return found && size <= found->end - begin;
}

cudaError_t check_copy(Plane to, Plane from, Box box, cudaMemcpyKind kind) {
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (empty(box)) return cudaSuccess;
    if (!to.at || !from.at) return cudaErrorInvalidValue;
    if (!is_one_row(box) && (to.pitch < box.width || from.pitch < box.width)) return cudaErrorInvalidPitchValue;
    size_t to_reach = reach(to, box), from_reach = reach(from, box);
    if (to_reach == beyond_all || from_reach == beyond_all) return cudaErrorInvalidValue;
    if (slices_overlap(to, box) || slices_overlap(from, box)) return cudaErrorInvalidValue;
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (to_device ? !on_device(to.at, to_reach) : !valid_somewhere(to.at, to_reach)) {
        explain_range("to", "destination", to.at, to_reach, kind);
        return cudaErrorInvalidValue;
    }
    if (refuses_writes(to.at)) return cudaErrorInvalidValue;
    if (from_device ? !on_device(from.at, from_reach) : !valid_somewhere(from.at, from_reach)) {
        explain_range("from", "source", from.at, from_reach, kind);
        return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

void copy_box(Plane to, Plane from, Box box) {
    if (empty(box)) return;
    DeviceAccess access;
    recording().note_copy(to, from, box);
    note_device_busy(true);
    for (size_t z = 0; z < box.depth; ++z) {
        for (size_t y = 0; y < box.height; ++y) {
            char *target = to.at + z * to.slice + y * to.pitch;
            const char *source = from.at + z * from.slice + y * from.pitch;
            note_row(target, source, box.width);
            task_races().add(reinterpret_cast<uint64_t>(source), box.width, false);
            task_races().add(reinterpret_cast<uint64_t>(target), box.width, true);
            std::memmove(target, source, box.width);
        }
    }
    recording().note_device_writes();
}

cudaError_t check_fill(Plane to, Box box) {
    if (empty(box)) return cudaSuccess;
    if (!is_one_row(box) && to.pitch < box.width) return cudaErrorInvalidValue;
    if (reach(to, box) == beyond_all || slices_overlap(to, box)) return cudaErrorInvalidValue;
    if (refuses_writes(to.at)) return cudaErrorInvalidValue;
    if (on_device(to.at, reach(to, box))) return cudaSuccess;
    explain_range("to", "destination", to.at, reach(to, box), cudaMemcpyDefault);
    return cudaErrorInvalidValue;
}

void fill_box(Plane to, uint32_t value, Box box, uint32_t element) {
    if (empty(box)) return;
    DeviceAccess access;
    Region region{reinterpret_cast<uint64_t>(to.at), to.pitch, to.slice};
    recording().add(FillStep{region, box, value, element});
    note_device_busy(true);
    for (size_t z = 0; z < box.depth; ++z) {
        for (size_t y = 0; y < box.height; ++y) {
            char *target = to.at + z * to.slice + y * to.pitch;
            note_row(target, nullptr, box.width);
            task_races().add(reinterpret_cast<uint64_t>(target), box.width, true);
            if (element == 1) {
                std::memset(target, static_cast<int>(value), box.width);
            } else {
                for (size_t i = 0; i < box.width; ++i) target[i] = static_cast<char>(value >> 8 * (i % element));
            }
        }
    }
    recording().note_device_writes();
}

}  // namespace emu
