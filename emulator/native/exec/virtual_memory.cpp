#include "exec/virtual_memory.h"

#include <algorithm>

#include "checks/call_errors.h"
#include "exec/arena.h"

namespace emu {

namespace {

// As `spoil()` has it.
constexpr uint64_t most_spoiled = 64 << 20;

bool is_multiple(uint64_t size) { return size && size % VirtualMemory::granularity == 0; }

cudaError_t refuse(std::string why, cudaError_t error = cudaErrorInvalidValue) {
    explain("", std::move(why));
    return error;
}

std::string range(uint64_t address, uint64_t size) {
    char text[64];
    std::snprintf(text, sizeof text, "the %llu bytes at 0x%llx", static_cast<unsigned long long>(size),
                  static_cast<unsigned long long>(address));
    return text;
}

}  // namespace

PhysicalMemory::~PhysicalMemory() {
    if (!is_imported) memory().discharge(size());
}

VirtualMemory::Reservations::iterator VirtualMemory::holder(uint64_t address) {
    auto next = reservations_.upper_bound(address);
    if (next == reservations_.begin()) return reservations_.end();
    --next;
    return address < next->second.end ? next : reservations_.end();
}

cudaError_t VirtualMemory::reserve(uint64_t size, uint64_t alignment, uint64_t at, uint64_t *out) {
    if (!size || size % Arena::page || at % Arena::page)
        return refuse("the size and the address must be multiples of a page, 4096 bytes");
    if (alignment & (alignment - 1)) return refuse("the alignment must be a power of two, or 0");
    alignment = std::max(alignment, granularity);
    std::lock_guard lock(mutex_);
    // The address is a hint.
    uint64_t address = at && at % alignment == 0 ? memory().reserve(size, alignment, at) : 0;
    if (!address) address = memory().reserve(size, alignment, 0);
    if (!address)
        return refuse("there are no addresses for " + std::to_string(size) + " bytes", cudaErrorMemoryAllocation);
    reservations_[address] = {address + size, memory().new_label("cuMemAddressReserve"), {}};
    *out = address;
    return cudaSuccess;
}

cudaError_t VirtualMemory::unreserve(uint64_t address, uint64_t size) {
    std::lock_guard lock(mutex_);
    auto found = reservations_.find(address);
    if (found == reservations_.end() || found->second.end - address != size) {
        explain("invalid free", range(address, size) + " are not what cuMemAddressReserve gave");
        return cudaErrorInvalidValue;
    }
    if (!found->second.pieces.empty()) {
        explain("invalid free", "memory is still mapped to " + found->second.label + ": call cuMemUnmap first");
        return cudaErrorInvalidValue;
    }
    memory().unreserve(address, size, found->second.label);
    reservations_.erase(found);
    return cudaSuccess;
}

cudaError_t VirtualMemory::create(uint64_t size, const CUmemAllocationProp &properties, uint64_t *handle) {
    if (!is_multiple(size))
        return refuse("the size must be a multiple of what cuMemGetAllocationGranularity says, 2097152 bytes");
    if (!memory().charge(size)) {
        return refuse("it was asked for " + std::to_string(size) + " bytes, and " +
                          std::to_string(memory().capacity() - memory().in_use()) + " of the device's " +
                          std::to_string(memory().capacity()) + " were free",
                      cudaErrorMemoryAllocation);
    }
    auto file = BackingFile::create(size);
    if (!file || !file->fill(garbage, std::min(size, most_spoiled))) {
        memory().discharge(size);
        return refuse("this machine has no memory for it", cudaErrorMemoryAllocation);
    }
    auto made = std::make_shared<PhysicalMemory>();
    made->file = std::move(file);
    made->properties = properties;
    made->label = memory().new_label("cuMemCreate");
    *handle = keep(std::move(made));
    return cudaSuccess;
}

cudaError_t VirtualMemory::import(int descriptor, uint64_t *handle) {
    auto file = BackingFile::open(descriptor);
    if (!file || !is_multiple(file->size()))
        return refuse("the file descriptor is not one that cuMemExportToShareableHandle gave");
    auto made = std::make_shared<PhysicalMemory>();
    made->file = std::move(file);
    made->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made->properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made->properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    made->label = memory().new_label("cuMemImportFromShareableHandle");
    made->is_imported = true;
    *handle = keep(std::move(made));
    return cudaSuccess;
}

uint64_t VirtualMemory::keep(std::shared_ptr<PhysicalMemory> made) {
    std::lock_guard lock(mutex_);
    made->handle = ++last_handle_;
    handles_[made->handle] = std::move(made);
    return last_handle_;
}

void VirtualMemory::drop_unless_used(const PhysicalMemory &it) {
    if (!it.handles && !it.mappings) handles_.erase(it.handle);
}

cudaError_t VirtualMemory::release(uint64_t handle) {
    std::lock_guard lock(mutex_);
    auto found = handles_.find(handle);
    if (found == handles_.end() || !found->second->handles) {
        explain("invalid free", "it was given no handle of cuMemCreate, or one that has been released");
        return cudaErrorInvalidValue;
    }
    --found->second->handles;
    drop_unless_used(*found->second);
    return cudaSuccess;
}

cudaError_t VirtualMemory::retain(uint64_t address, uint64_t *handle) {
    std::lock_guard lock(mutex_);
    auto in = holder(address);
    if (in == reservations_.end()) return refuse("nothing is mapped at the address");
    for (const auto &[begin, piece] : in->second.pieces) {
        if (address < begin || address >= piece.end) continue;
        ++piece.memory->handles;
        *handle = piece.memory->handle;
        return cudaSuccess;
    }
    return refuse("nothing is mapped at the address");
}

std::shared_ptr<PhysicalMemory> VirtualMemory::physical(uint64_t handle) {
    std::lock_guard lock(mutex_);
    auto found = handles_.find(handle);
    return found == handles_.end() || !found->second->handles ? nullptr : found->second;
}

cudaError_t VirtualMemory::map(uint64_t address, uint64_t size, uint64_t handle) {
    auto mapped = physical(handle);
    if (!mapped) return refuse("it was given no handle of cuMemCreate, or one that has been released");
    if (!is_multiple(size) || address % granularity)
        return refuse(
            "the address and the size must be multiples of what cuMemGetAllocationGranularity says, 2097152 bytes");
    if (size > mapped->size())
        return refuse(mapped->label + " has " + std::to_string(mapped->size()) + " bytes, and " + std::to_string(size) +
                      " are to be mapped");
    std::lock_guard lock(mutex_);
    auto in = holder(address);
    if (in == reservations_.end() || size > in->second.end - address)
        return refuse(range(address, size) + " are not all of one range that cuMemAddressReserve gave");
    Pieces &pieces = in->second.pieces;
    auto next = pieces.lower_bound(address);
    bool overlaps = (next != pieces.end() && next->first < address + size) ||
                    (next != pieces.begin() && std::prev(next)->second.end > address);
    if (overlaps) return refuse("memory is mapped there already: call cuMemUnmap first");
    if (!mapped->file->map(address, size)) return refuse("this machine cannot map it", cudaErrorMemoryAllocation);
    Arena::set_accessible(address, size, false);
    ++mapped->mappings;
    pieces[address] = {address + size, std::move(mapped), CU_MEM_ACCESS_FLAGS_PROT_NONE,
                       memory().new_label("cuMemMap")};
    return cudaSuccess;
}

bool VirtualMemory::find_pieces(uint64_t address, uint64_t size, Reservation **in, std::vector<Pieces::iterator> *out) {
    auto reservation = holder(address);
    uint64_t at = address, end = address + size;
    if (size && reservation != reservations_.end()) {
        Pieces &pieces = reservation->second.pieces;
        for (auto it = pieces.find(address); it != pieces.end() && it->first == at && it->second.end <= end; ++it) {
            out->push_back(it);
            at = it->second.end;
        }
    }
    if (size && at == end) {
        *in = &reservation->second;
        return true;
    }
    explain("", range(address, size) + " are not exactly what one or several calls of cuMemMap have mapped");
    return false;
}

void VirtualMemory::remove(uint64_t begin, Reservation &reservation, const std::vector<Pieces::iterator> &pieces) {
    std::vector<std::shared_ptr<PhysicalMemory>> gone;
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (auto it : pieces) {
        ranges.emplace_back(it->first, it->second.end);
        gone.push_back(std::move(it->second.memory));
        reservation.pieces.erase(it);
    }
    update_table(begin, reservation);
    for (auto [from, to] : ranges) Arena::forget(from, to - from);
    for (const auto &it : gone) {
        --it->mappings;
        drop_unless_used(*it);
    }
}

cudaError_t VirtualMemory::unmap(uint64_t address, uint64_t size) {
    std::lock_guard lock(mutex_);
    Reservation *in = nullptr;
    std::vector<Pieces::iterator> pieces;
    if (!find_pieces(address, size, &in, &pieces)) return cudaErrorInvalidValue;
    remove(holder(address)->first, *in, pieces);
    return cudaSuccess;
}

cudaError_t VirtualMemory::set_access(uint64_t address, uint64_t size, CUmemAccess_flags access) {
    std::lock_guard lock(mutex_);
    Reservation *in = nullptr;
    std::vector<Pieces::iterator> pieces;
    if (!find_pieces(address, size, &in, &pieces)) return cudaErrorInvalidValue;
    bool is_none = access == CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (auto it : pieces) {
        it->second.access = access;
        if (!is_none) Arena::set_accessible(it->first, it->second.end - it->first, true);
    }
    update_table(holder(address)->first, *in);
    if (is_none) Arena::set_accessible(address, size, false);
    return cudaSuccess;
}

cudaError_t VirtualMemory::access_of(uint64_t address, CUmemAccess_flags *out) {
    std::lock_guard lock(mutex_);
    auto in = holder(address);
    if (in == reservations_.end()) return refuse("the address is in no range that cuMemAddressReserve gave");
    *out = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    for (const auto &[begin, piece] : in->second.pieces) {
        if (address >= begin && address < piece.end) *out = piece.access;
    }
    return cudaSuccess;
}

void VirtualMemory::update_table(uint64_t begin, const Reservation &reservation) {
    std::vector<Allocation> runs;
    for (const auto &[from, piece] : reservation.pieces) {
        if (piece.access == CU_MEM_ACCESS_FLAGS_PROT_NONE) continue;
        unsigned flags = piece.access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? Allocation::mapped_writable : 0;
        if (!runs.empty() && runs.back().end == from && runs.back().flags == flags) {
            runs.back().end = piece.end;
        } else {
            runs.push_back({from, piece.end, MemoryKind::mapped, piece.label, flags});
        }
    }
    memory().set_mapped(begin, reservation.end, runs);
}

std::string VirtualMemory::reason_against(uint64_t address) {
    std::lock_guard lock(mutex_);
    auto in = holder(address);
    if (in == reservations_.end()) return "";
    std::string where = "byte " + std::to_string(address - in->first) + " of " + in->second.label;
    for (const auto &[begin, piece] : in->second.pieces) {
        if (address < begin || address >= piece.end) continue;
        if (piece.access != CU_MEM_ACCESS_FLAGS_PROT_NONE) return "";
        return where + ", to which cuMemSetAccess has given no access";
    }
    return where + ", where nothing is mapped";
}

std::string VirtualMemory::describe(uint64_t handle, uint64_t *size) {
    std::lock_guard lock(mutex_);
    auto found = handles_.find(handle);
    if (found == handles_.end()) return "";
    *size = found->second->size();
    return found->second->label;
}

VirtualMemory &virtual_memory() {
    // Never destroyed, as memory() is not.
    static VirtualMemory *instance = new VirtualMemory;
    return *instance;
}

}  // namespace emu
