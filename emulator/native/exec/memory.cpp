#include "exec/memory.h"

#include <algorithm>
#include <cstring>

#include "checks/host_accesses.h"
#include "exec/round_up.h"

namespace emu {

namespace {

constexpr size_t remembered_frees = 256;
constexpr uint64_t max_tracked = uint64_t{4} << 30;  // takes an eighth of it

template <class Table>
auto holder(const Table &table, uint64_t address) {
    auto next = table.upper_bound(address);
    if (next == table.begin()) return table.end();
    --next;
    return address < next->second->end ? next : table.end();
}

}  // namespace

bool shared_with_host(MemoryKind kind) {
    return kind == MemoryKind::managed || kind == MemoryKind::managed_variable || kind == MemoryKind::pinned_host ||
           kind == MemoryKind::registered_host;
}

MemoryView::MemoryView(std::vector<std::shared_ptr<const Allocation>> sorted) : sorted_(std::move(sorted)) {
    begins_.reserve(sorted_.size());
    for (const auto &allocation : sorted_) begins_.push_back(allocation->begin);
}

const Allocation *MemoryView::find(uint64_t address) const {
    size_t next = std::upper_bound(begins_.begin(), begins_.end(), address) - begins_.begin();
    if (!next) return nullptr;
    const Allocation *candidate = sorted_[next - 1].get();
    return address < candidate->end ? candidate : nullptr;
}

const Allocation *MemoryView::before(uint64_t address) const {
    size_t next = std::upper_bound(begins_.begin(), begins_.end(), address) - begins_.begin();
    if (!next) return nullptr;
    return sorted_[next - 1].get();
}

const Allocation *MemoryView::after(uint64_t address) const {
    size_t next = std::upper_bound(begins_.begin(), begins_.end(), address) - begins_.begin();
    return next < sorted_.size() ? sorted_[next].get() : nullptr;
}

void Memory::set_capacity(uint64_t bytes, bool is_limit) {
    std::lock_guard lock(mutex_);
    capacity_ = bytes;
    capacity_is_limit_ = is_limit;
}

uint64_t Memory::in_use() const {
    std::lock_guard lock(mutex_);
    return in_use_;
}

uint64_t Memory::allocate(uint64_t size, uint64_t alignment, MemoryKind kind, const std::string &label,
                          const char *call, unsigned flags, uint64_t at) {
    std::lock_guard lock(mutex_);
    // Pinned memory is the host's, but there is no more of it than of the machine's memory either.
    if (counts(kind) ? !fits(size) : size > capacity_) return 0;
    uint64_t address = arena_.carve(size, alignment, at);
    if (address) enter({address, address + size, kind, label.empty() ? name_after(call) : label, flags});
    return address;
}

std::string Memory::name_after(const char *call) { return std::string(call) + " #" + std::to_string(++ordinal_); }

void Memory::enter(Allocation allocation) {
    if (counts(allocation.kind)) in_use_ += allocation.size();
    if (is_closed()) protect(allocation, false);
    table_[allocation.begin] = std::make_shared<Allocation>(std::move(allocation));
    view_.reset();
}

void Memory::prefer_upper_half() {
    std::lock_guard lock(mutex_);
    arena_.prefer_upper_half();
}

bool Memory::release(uint64_t address, unsigned kinds) {
    std::lock_guard lock(mutex_);
    auto found = table_.find(address);
    if (found == table_.end() || !(kinds & kind_bit(found->second->kind))) return false;
    auto allocation = found->second;
    table_.erase(found);
    if (counts(allocation->kind)) in_use_ -= allocation->size();
    if (allocation->kind != MemoryKind::registered_host) arena_.release(address);
    files_.erase(address);
    remember(allocation);
    view_.reset();
    return true;
}

void Memory::remember(std::shared_ptr<const Allocation> freed) {
    freed_.push_back(std::move(freed));
    if (freed_.size() > remembered_frees) freed_.pop_front();
}

std::shared_ptr<BackingFile> Memory::share(uint64_t address) {
    std::lock_guard lock(mutex_);
    auto found = table_.find(address);
    if (found == table_.end() || found->second->kind != MemoryKind::device) return nullptr;
    if (auto shared = files_.find(address); shared != files_.end()) return shared->second;
    // The last page holds padding behind the allocation, too, which stays as it is.
    uint64_t size = round_up(found->second->size(), Arena::page);
    auto file = BackingFile::create(size);
    if (!file || !file->write(reinterpret_cast<void *>(address), size) || !file->map(address, size)) return nullptr;
    // What other processes write is not known.
    Allocation changed = *found->second;
    changed.written = nullptr;
    found->second = std::make_shared<Allocation>(std::move(changed));
    view_.reset();
    return files_[address] = file;
}

uint64_t Memory::import(std::shared_ptr<BackingFile> file, uint64_t size, MemoryKind kind, const char *call) {
    std::lock_guard lock(mutex_);
    if (size > file->size() || (counts(kind) && !fits(size))) return 0;
    uint64_t address = arena_.carve(size, Arena::page);
    if (!address) return 0;
    if (!file->map(address, size)) {
        arena_.release(address);
        return 0;
    }
    files_[address] = std::move(file);
    enter({address, address + size, kind, name_after(call), 0});
    return address;
}

uint64_t Memory::reserve(uint64_t size, uint64_t alignment, uint64_t at) {
    std::lock_guard lock(mutex_);
    uint64_t address = arena_.carve(size, alignment, at);
    if (address) Arena::set_accessible(address, size, false);
    return address;
}

void Memory::unreserve(uint64_t address, uint64_t size, const std::string &label) {
    std::lock_guard lock(mutex_);
    arena_.release(address);
    remember(std::make_shared<Allocation>(Allocation{address, address + size, MemoryKind::mapped, label, 0}));
}

void Memory::set_mapped(uint64_t begin, uint64_t end, const std::vector<Allocation> &now) {
    std::lock_guard lock(mutex_);
    for (auto it = table_.lower_bound(begin); it != table_.end() && it->first < end; it = table_.erase(it)) {
        if (is_closed()) protect(*it->second, true);
    }
    for (const Allocation &allocation : now) enter(allocation);
    view_.reset();
}

std::string Memory::new_label(const char *call) {
    std::lock_guard lock(mutex_);
    return name_after(call);
}

bool Memory::charge(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    if (!fits(bytes)) return false;
    in_use_ += bytes;
    return true;
}

void Memory::discharge(uint64_t bytes) {
    std::lock_guard lock(mutex_);
    in_use_ -= bytes;
}

void Memory::release_all(unsigned kinds) {
    std::vector<uint64_t> addresses;
    {
        std::lock_guard lock(mutex_);
        for (const auto &[address, allocation] : table_) {
            if (kinds & kind_bit(allocation->kind)) addresses.push_back(address);
        }
    }
    for (uint64_t address : addresses) release(address, kinds);
}

bool Memory::track_writes(uint64_t address) {
    std::lock_guard lock(mutex_);
    auto found = table_.find(address);
    if (found == table_.end() || found->second->size() > max_tracked) return false;
    Allocation changed = *found->second;
    changed.written = std::make_shared<WrittenBytes>(changed.size());
    found->second = std::make_shared<Allocation>(std::move(changed));
    view_.reset();
    return true;
}

void Memory::forget_writes() {
    std::lock_guard lock(mutex_);
    for (auto &[begin, allocation] : table_) {
        if (!allocation->written) continue;
        Allocation changed = *allocation;
        changed.written = nullptr;
        allocation = std::make_shared<Allocation>(std::move(changed));
    }
    view_.reset();
}

bool Memory::register_host(uint64_t address, uint64_t size, unsigned flags) {
    std::lock_guard lock(mutex_);
    auto next = table_.lower_bound(address);
    if (holder(table_, address) != table_.end() || (next != table_.end() && next->first < address + size)) return false;
    enter({address, address + size, MemoryKind::registered_host, name_after("cudaHostRegister"), flags});
    return true;
}

void Memory::set_shield(bool on, uint64_t reach) {
    std::lock_guard lock(mutex_);
    if (on == shielded_) return;
    shielded_ = on;
    if (on) shield_reach_ = reach;
    if (!accesses_) protect_all(!on);
}

void Memory::open() {
    std::lock_guard lock(mutex_);
    if (accesses_++) return;
    host_accesses().pause();
    if (shielded_) protect_all(true);
}

void Memory::close() {
    std::lock_guard lock(mutex_);
    if (--accesses_) return;
    host_accesses().resume();
    if (shielded_) protect_all(false);
}

void Memory::protect_all(bool accessible) {
    for (const auto &[address, allocation] : table_) protect(*allocation, accessible);
}

void Memory::protect(const Allocation &allocation, bool accessible) {
    if (shared_with_host(allocation.kind)) return;
    if (allocation.kind == MemoryKind::mapped) {
        Arena::set_accessible(allocation.begin, std::min(allocation.size(), shield_reach_), accessible);
    } else {
        arena_.protect(allocation.begin, accessible, shield_reach_);
    }
}

std::shared_ptr<const MemoryView> Memory::view() {
    std::lock_guard lock(mutex_);
    if (!view_) {
        std::vector<std::shared_ptr<const Allocation>> sorted;
        sorted.reserve(table_.size());
        for (const auto &[begin, allocation] : table_) sorted.push_back(allocation);
        view_ = std::make_shared<MemoryView>(std::move(sorted));
    }
    return view_;
}

std::shared_ptr<const Allocation> Memory::find(uint64_t address) const {
    std::lock_guard lock(mutex_);
    auto found = holder(table_, address);
    return found == table_.end() ? nullptr : found->second;
}

std::string Memory::freed_label(uint64_t address) const {
    std::lock_guard lock(mutex_);
    for (auto it = freed_.rbegin(); it != freed_.rend(); ++it) {
        if (address >= (*it)->begin && address < (*it)->end) return (*it)->label;
    }
    return {};
}

void spoil(uint64_t address, uint64_t size) {
    constexpr uint64_t most = 64 << 20;
    DeviceAccess access;
    std::memset(reinterpret_cast<void *>(address), garbage, std::min(size, most));
}

Memory &memory() {
    // Never destroyed: destructors of submissions may still free memory when the process ends.
    static Memory *instance = new Memory;
    return *instance;
}

}  // namespace emu
