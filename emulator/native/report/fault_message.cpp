// Explains a bad access: which allocation was likely meant, and by how much it was missed.

#include <algorithm>
#include <cstdio>
#include <string>

#include "api/limits.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/child_launches.h"
#include "exec/memory.h"
#include "exec/virtual_memory.h"
#include "report/report.h"
#include "report/symbol_names.h"

namespace emu {

std::string bytes(uint64_t count) { return std::to_string(count) + (count == 1 ? " byte" : " bytes"); }

std::string triple(const uint32_t values[3]) {
    return "(" + std::to_string(values[0]) + "," + std::to_string(values[1]) + "," + std::to_string(values[2]) + ")";
}

void split_index(uint64_t index, const uint32_t shape[3], uint32_t out[3]) {
    out[0] = static_cast<uint32_t>(index % shape[0]);
    out[1] = static_cast<uint32_t>(index / shape[0] % shape[1]);
    out[2] = static_cast<uint32_t>(index / shape[0] / shape[1]);
}

namespace {

// The variable that the byte at `offset` of the window belongs to; behind the last one, that one. Null when there is
// none.
const EmuSharedArray *shared_array(const EmuKernel &kernel, int64_t offset) {
    const EmuSharedArray *best = nullptr;
    for (uint32_t i = 0; i < kernel.shared_array_count; ++i) {
        const EmuSharedArray &array = kernel.shared_arrays[i];
        if (!best || (array.offset <= offset && array.offset >= best->offset)) best = &array;
    }
    return best;
}

uint32_t size_of(const EmuSharedArray &array, uint32_t shared_bytes) {
    return array.size ? array.size : shared_bytes - std::min(shared_bytes, array.offset);
}

}  // namespace

Location shared_location(const WarpContext &warp, uint64_t address) {
    uint64_t offset = address - reinterpret_cast<uint64_t>(warp.shared);
    const EmuSharedArray *array = shared_array(*warp.kernel, static_cast<int64_t>(offset));
    if (!array) return {"byte " + std::to_string(offset) + " of shared memory", "shared memory"};
    std::string name = variable_name(array->name);
    return {"byte " + std::to_string(offset - array->offset) + " of " + name + " (" +
                bytes(size_of(*array, warp.shared_bytes)) + " of shared memory)",
            name};
}

Location global_location(const Launch &launch, uint64_t address) {
    const Allocation *found = launch.memory->find(address);
    if (!found) return {"global memory", ""};
    return {
        "byte " + std::to_string(address - found->begin) + " of " + found->label + " (" + bytes(found->size()) + ")",
        found->label};
}

Fault fault_at(const Access &access) {
    const WarpContext &warp = *access.warp;
    Fault fault;
    fault.kernel = readable_name(warp.kernel->name);
    fault.file = access.site->file;
    fault.line = access.site->line;
    fault.address = access.address;
    fault.size = access.site->size;
    fault.is_write = access.is_write();
    for (int axis = 0; axis < 3; ++axis) {
        fault.thread[axis] = warp.tid[axis][access.lane];
        fault.block[axis] = warp.ctaid[axis];
    }
    return fault;
}

Party party_at(const Access &access) {
    Fault fault = fault_at(access);
    Party party{std::move(fault.file), fault.line};
    std::copy_n(fault.thread, 3, party.thread);
    std::copy_n(fault.block, 3, party.block);
    party.is_write = fault.is_write;
    party.exists = true;
    return party;
}

std::string where(const Fault &fault) {
    std::string location =
        fault.line ? fault.file + ":" + std::to_string(fault.line) + " in " + fault.kernel : fault.kernel;
    return location + ", thread " + triple(fault.thread) + " of block " + triple(fault.block);
}

namespace {

struct Explanation {
    std::string kind, text, allocation;
};

// What may have made the null pointer: a malloc() that found the heap full.
std::string refused_malloc(const Access &access) {
    const Launch &launch = access.warp->block->launch;
    uint32_t number = launch.refused_malloc;
    if (!number) return "";
    const EmuSite &site = launch.kernel->sites[number - 1];
    std::string line = site.line ? " at " + std::string(site.file) + ":" + std::to_string(site.line) : "";
    return ", and malloc()" + line + " returned null: the device heap of " +
           bytes(device_limit(cudaLimitMallocHeapSize)) +
           " had too little room. Free what was allocated, or call cudaDeviceSetLimit(cudaLimitMallocHeapSize, ...) "
           "before the first launch";
}

// Outside of the arena: it cannot be memory of the device.
std::string foreign_address(const Access &access) {
    uint64_t address = access.address, shared = reinterpret_cast<uint64_t>(access.warp->shared);
    if (address < 1 << 16)
        return (address ? "it was reached from a null pointer" : "it is a null pointer") + refused_malloc(access);
    if (address - ChildLaunches::foreign_window < ChildLaunches::foreign_window_bytes) {
        return "it is an address in shared or local memory of the block that launched this kernel, which no other "
               "kernel can reach: pass it "
               "global memory";
    }
    if (address >> 47) return "it is no valid address at all";
    if (address - shared < access.warp->shared_bytes + 4096 || shared - address <= 4096) {
        return "it lies beside the block's shared memory";
    }
    return "it is not device memory, it looks like a host pointer";
}

// In the arena, but in no allocation.
void find_neighbour(const Access &access, Explanation &explanation) {
    const MemoryView &view = *access.warp->block->launch.memory;
    uint64_t address = access.address, end = address + access.site->size;
    const Allocation *before = view.before(address), *after = view.after(address);
    uint64_t past = before ? end - std::min(end, before->end) : ~uint64_t{0};
    uint64_t ahead = after ? after->begin - address : ~uint64_t{0};
    if (before && past <= ahead) {
        explanation.text =
            "it reaches " + bytes(past) + " past the end of " + before->label + " (" + bytes(before->size()) + ")";
        explanation.allocation = before->label;
    } else if (after) {
        explanation.text =
            "it lies " + bytes(ahead) + " before the start of " + after->label + " (" + bytes(after->size()) + ")";
        explanation.allocation = after->label;
    } else {
        explanation.text = "nothing is allocated there";
    }
}

// Outside of the array that is meant; or of all of the block's shared memory: then that is meant which ends, or begins,
// there.
Explanation explain_shared(const Access &access, const char *verb) {
    int64_t offset = static_cast<int64_t>(access.address - reinterpret_cast<uint64_t>(access.warp->shared));
    int64_t end = offset + access.site->size;
    uint32_t window = access.warp->shared_bytes;
    bool is_known = access.site->shared_begin || access.site->shared_end;
    const EmuSharedArray *array = shared_array(*access.warp->kernel, is_known ? access.site->shared_begin : offset);
    Explanation explanation{std::string("out-of-bounds shared ") + verb, "",
                            array ? variable_name(array->name) : "shared memory"};
    if (array && offset < int64_t{array->offset}) {
        explanation.text = "it lies " + bytes(static_cast<uint64_t>(array->offset - offset)) + " before the start of " +
                           explanation.allocation;
    } else if (array && end > int64_t{array->offset} + size_of(*array, window)) {
        uint64_t past = static_cast<uint64_t>(end) - array->offset - size_of(*array, window);
        explanation.text = "it reaches " + bytes(past) + " past the end of " + explanation.allocation;
    } else {
        explanation.text = "offset " + std::to_string(offset);
    }
    explanation.text += array ? " (" + bytes(size_of(*array, window)) + " of the block's " : " (of the block's ";
    explanation.text += bytes(window) + " of shared memory)";
    return explanation;
}

// By an instruction that reaches the bank of parameters, or that of constants, only.
Explanation explain_bank(const Access &access, const Ruling &ruling, const char *verb) {
    bool constant = ruling.miss == Miss::constant;
    const char *bank = constant ? "constant " : "parameter ";
    Explanation explanation{std::string("out-of-bounds ") + bank + verb, "", ""};
    const WarpContext &warp = *access.warp;
    Location there = global_location(warp.block->launch, access.address);
    if (!constant && !ruling.far) {
        int64_t offset = static_cast<int64_t>(access.address - reinterpret_cast<uint64_t>(warp.params));
        explanation.text = "offset " + std::to_string(offset) + " of the kernel's " + bytes(warp.kernel->param_bytes) +
                           " of parameters";
        explanation.allocation = "parameters";
    } else if (!there.name.empty()) {
        explanation.text = "it is " + there.text + ", which is no " + bank + "memory";
        explanation.allocation = there.name;
    } else if (memory().in_device_range(access.address)) {
        find_neighbour(access, explanation);
    } else {
        explanation.text = "it is not an address of " + std::string(bank) + "memory";
    }
    return explanation;
}

Explanation explain(const Access &access, const Range &range, const Ruling &ruling) {
    const char *verb = access.is_write() ? "write" : "read";
    switch (ruling.miss) {
    case Miss::misaligned:
        return {"misaligned access", "the address is not a multiple of " + std::to_string(access.site->size), ""};
    case Miss::read_only: {
        bool is_parameter =
            access.address - reinterpret_cast<uint64_t>(access.warp->params) < access.warp->kernel->param_bytes;
        const Allocation *found = access.warp->block->launch.memory->find(access.address);
        if (found && found->is_read_only()) {
            return {"write to read-only memory",
                    "it lies in " + found->label + ", which cuMemSetAccess has made read-only", found->label};
        }
        const char *what =
            is_parameter ? "it is a parameter of the kernel"
                         : "it lies in constant memory, and this kernel reads constants too: its reads may return "
                           "the old values. Write constants in an earlier launch";
        return {"write to read-only memory", what, ""};
    }
    case Miss::shared: return explain_shared(access, verb);
    case Miss::local: {
        std::string offset = std::to_string(static_cast<int64_t>(access.address - range.begin));
        return {std::string("out-of-bounds local ") + verb,
                "offset " + offset + " of the thread's " + bytes(range.end - range.begin) + " of local memory",
                "local memory"};
    }
    case Miss::parameter:
    case Miss::constant: return explain_bank(access, ruling, verb);
    case Miss::global: break;
    }
    Explanation explanation{std::string(ruling.far ? "illegal " : "out-of-bounds ") + verb, "", ""};
    if (!memory().in_device_range(access.address)) {
        explanation.text = foreign_address(access);
        return explanation;
    }
    if (std::string reason = virtual_memory().reason_against(access.address); !reason.empty()) {
        explanation.text = "it is " + reason;
        return explanation;
    }
    std::string freed = memory().freed_label(access.address);
    if (freed.empty()) {
        if (ruling.far)
            explanation.text = "nothing is allocated anywhere near";
        else
            find_neighbour(access, explanation);
        return explanation;
    }
    return {std::string(verb) + " after free", "it lies in " + freed + ", which has been freed", freed};
}

}  // namespace

void report_access(const Access &access, const Range &range, const Ruling &ruling) {
    Explanation explanation = explain(access, range, ruling);
    Fault fault = fault_at(access);
    fault.kind = explanation.kind;
    fault.allocation = explanation.allocation;
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(access.address));
    fault.message = fault.kind + " of " + bytes(fault.size) + " at " + where(fault) + ": address " + address + ", " +
                    explanation.text;
    Launch &launch = access.warp->block->launch;
    if (ruling.error) launch.doom(ruling.error, fault.message);
    launch.report_fault(static_cast<uint32_t>(access.site - launch.kernel->sites), ruling.error, std::move(fault));
}

}  // namespace emu
