// memcheck, the slow path: decides whether an access that failed the generated code's quick check is an error, and
// prevents harm.
//
// A launch fails by a store outside every allocation, a misaligned access, or a load from unmapped memory. A load
// outside an allocation but near one does no harm on hardware: it is reported, and the launch goes on. Constants and
// parameters are in banks of their own, where every access outside the bank is such an error.

#include <algorithm>
#include <cstring>

#include "api/device_model.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/memory.h"
#include "exec/semantics.h"
#include "exec/virtual_memory.h"

using namespace emu;

namespace {

// Drivers map device memory in large pieces: on an H200 a load 64 MiB behind the only allocation went through.
constexpr uint64_t mapped_on_hardware = 64 << 20;

Range shared_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->shared);
    return {begin, begin + warp->shared_bytes};
}

// What the access means of it.
Range meant_shared_range(const Access &access) {
    Range window = shared_range(access.warp);
    const EmuSite &site = *access.site;
    return {window.begin + site.shared_begin, site.shared_end ? window.begin + site.shared_end : window.end};
}

Range local_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->local);
    return {begin, begin + (warp->kernel->local_bytes + warp->stack_bytes) * 32};
}

// The lane's own, or its stack.
Range own_local_range(const WarpContext *warp, uint32_t lane, uint64_t address) {
    uint64_t each = warp->kernel->local_bytes, local = reinterpret_cast<uint64_t>(warp->local);
    uint64_t stack = local + 32 * each + lane * warp->stack_bytes;
    if (address - stack < warp->stack_bytes) return {stack, stack + warp->stack_bytes};
    return {local + lane * each, local + (lane + 1) * each};
}

Range parameter_range(const WarpContext *warp) {
    uint64_t begin = reinterpret_cast<uint64_t>(warp->params);
    return {begin, begin + warp->kernel->param_bytes, false};
}

bool reads_constants(const EmuKernel &kernel) {
    return std::any_of(kernel.sites, kernel.sites + kernel.site_count,
                       [](const EmuSite &site) { return site.space == EMU_CONST; });
}

// Constant memory may be written, but not by a kernel that reads it: on an H100, later launches found all that was
// written, and the launch that wrote it none (it is read through a cache that stores pass by).
Range global_range(const Access &access) {
    const WarpContext *warp = access.warp;
    uint64_t address = access.address;
    const Allocation *found = warp->block->launch.memory->find(address);
    std::shared_ptr<const Allocation> fresh;  // made by the kernel itself (device-side malloc)
    if (!found && memory().in_device_range(address)) {
        fresh = memory().find(address);
        found = fresh.get();
    }
    if (!found) return {};
    bool may_write = found->kind == MemoryKind::constant ? access.is_write() && !reads_constants(*warp->kernel)
                                                         : !found->is_read_only();
    return {found->begin, found->end, may_write};
}

Range constant_range(const WarpContext *warp, uint64_t address) {
    const Allocation *found = warp->block->launch.memory->find(address);
    if (!found || found->kind != MemoryKind::constant) return {};
    return {found->begin, found->end, false};
}

// The range that holds the first byte, as far as the state space of the access allows; empty when there is none.
Range range_of(const Access &access) {
    uint8_t space = access.site->space;
    if (space == EMU_SHARED) return meant_shared_range(access);
    if (space == EMU_LOCAL) return own_local_range(access.warp, access.lane, access.address);
    if (space == EMU_CONST) return constant_range(access.warp, access.address);
    if (space == EMU_PARAM) {  // the kernel's, or those of a call, which are the thread's own
        Range own = own_local_range(access.warp, access.lane, access.address);
        return own.contains(access.address) ? own : parameter_range(access.warp);
    }
    if (space == EMU_GENERIC) {
        for (Range window : {shared_range(access.warp), local_range(access.warp), parameter_range(access.warp)}) {
            if (window.contains(access.address)) return window;
        }
        if (BlockContext *other = access.warp->block->cluster().owner(access.address))
            return shared_range(&other->warp(0));
    }
    return global_range(access);
}

// Bytes between the address and the nearest allocation.
uint64_t distance(const Access &access) {
    if (!memory().in_device_range(access.address)) return ~uint64_t{0};
    const MemoryView &view = *access.warp->block->launch.memory;
    const Allocation *before = view.before(access.address), *after = view.after(access.address);
    uint64_t behind = before ? access.address - std::min(access.address, before->end) : ~uint64_t{0};
    uint64_t ahead = after ? after->begin - access.address : ~uint64_t{0};
    return std::min(behind, ahead);
}

// Bytes between the address and the next constant, where no other allocation has it.
uint64_t distance_to_constant(const Access &access) {
    const MemoryView &view = *access.warp->block->launch.memory;
    const Allocation *before = view.before(access.address), *after = view.after(access.address);
    uint64_t away = ~uint64_t{0};
    if (before && before->kind == MemoryKind::constant)
        away = access.address - std::min(access.address, before->end);
    else if (before && access.address < before->end)
        return away;
    if (after && after->kind == MemoryKind::constant) away = std::min(away, after->begin - access.address);
    return away;
}

uint64_t distance_to_parameters(const Access &access) {
    Range range = parameter_range(access.warp);
    if (range.contains(access.address)) return 0;
    return std::min(access.address - range.end, range.begin - access.address);
}

// For an access that is not good. Cheap, as it may be asked for every access of a kernel.
Ruling rule(const Access &access, const Range &range) {
    uint32_t size = access.site->size;
    if (range.contains(access.address, size)) {
        if (access.address % size) return {Miss::misaligned, cudaErrorMisalignedAddress};
        return {Miss::read_only, cudaErrorIllegalAddress};
    }
    cudaError_t error = access.is_write() ? cudaErrorIllegalAddress : cudaSuccess;
    if (access.site->space == EMU_SHARED) {
        bool mapped = shared_range(access.warp).contains(access.address, size) && access.address % size == 0;
        return {Miss::shared, error, !access.is_write() && mapped};
    }
    if (access.site->space == EMU_LOCAL) return {Miss::local, error};
    if (access.site->space == EMU_PARAM) {
        bool far = distance_to_parameters(access) > device_model::constant_bytes;
        return {Miss::parameter, far ? cudaErrorIllegalAddress : error, false, far};
    }
    bool constant = access.site->space == EMU_CONST;
    if (!constant && !virtual_memory().reason_against(access.address).empty())
        return {Miss::global, cudaErrorIllegalAddress, false, true};
    uint64_t away = constant ? distance_to_constant(access) : distance(access);
    bool far = away > (constant ? device_model::constant_bytes : mapped_on_hardware);
    bool perform = !access.is_write() && away <= Arena::padding - size;
    return {constant ? Miss::constant : Miss::global, far ? cudaErrorIllegalAddress : error, perform, far};
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
        bool as_before = last.contains(access.address, site.size);
        Range range = as_before ? last : range_of(access);
        bool good = range.contains(access.address, site.size) && access.address % site.size == 0 &&
                    (range.writable || !access.is_write());
        if (good) {
            bool is_the_lanes_own = site.space == EMU_LOCAL || (site.space == EMU_PARAM && range.writable);
            if (!is_the_lanes_own) last = range;
            continue;
        }
        Ruling ruling = rule(access, range);
        if (launch.first_at(index, ruling.error)) report_access(access, range, ruling);
        ++launch.faults;
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

uint32_t emu_constant_lanes(const WarpContext *warp, uint32_t lanes, const uint64_t *address) {
    uint32_t found = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = __builtin_ctz(left);
        found |= uint32_t{constant_range(warp, address[lane]).contains(address[lane])} << lane;
    }
    return found;
}
