#include "replay/recording.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "host.h"

namespace emu {

namespace {

constexpr uint64_t page = 4096;

uint64_t address_of(const void *pointer) { return reinterpret_cast<uint64_t>(pointer); }

Region region(Plane plane) { return {address_of(plane.at), plane.pitch, plane.slice}; }

bool is_of_host(const std::shared_ptr<const Allocation> &allocation) {
    return !allocation || allocation->kind == MemoryKind::pinned_host ||
           allocation->kind == MemoryKind::registered_host;
}

// Whether a replay has this memory: what the host registered is the host's own.
bool is_replayed(const std::shared_ptr<const Allocation> &allocation) {
    return allocation && allocation->kind != MemoryKind::registered_host;
}

}  // namespace

void Recording::begin(uint64_t max_bytes) {
    std::lock_guard lock(mutex_);
    steps_.clear();
    shared_.clear();
    whole_ = true;
    max_bytes_ = max_bytes;
    on_ = true;
}

bool Recording::take(std::string *out) {
    std::lock_guard lock(mutex_);
    *out = steps_;
    return whole_;
}

void Recording::append_bytes(const std::string &bytes) {
    whole_ = whole_ && bytes.size() <= max_bytes_ - std::min<uint64_t>(max_bytes_, steps_.size());
    if (whole_) steps_ += bytes;
}

void Recording::share_with_host(uint64_t address, uint64_t size) {
    if (!is_on()) return;
    std::lock_guard lock(mutex_);
    shared_[address] = std::string(reinterpret_cast<const char *>(address), size);
}

void Recording::note_host_writes() {
    if (!is_on()) return;
    std::lock_guard lock(mutex_);
    note_host_writes_locked();
}

void Recording::note_host_writes_locked() {
    for (auto it = shared_.begin(); it != shared_.end();) {
        auto &[address, known] = *it;
        auto allocation = memory().find(address);
        if (!allocation || allocation->begin != address || allocation->size() != known.size()) {
            it = shared_.erase(it);
            continue;
        }
        const char *now = reinterpret_cast<const char *>(address);
        auto differs = [&, &known = known](uint64_t at) {
            return std::memcmp(now + at, known.data() + at, std::min(page, known.size() - at)) != 0;
        };
        for (uint64_t begin = 0; begin < known.size(); begin += page) {
            if (!differs(begin)) continue;
            uint64_t end = begin + page;
            while (end < known.size() && differs(end)) end += page;
            end = std::min<uint64_t>(end, known.size());
            known.replace(begin, end - begin, now + begin, end - begin);
            append(WriteStep{{address + begin, 0, 0}, {end - begin}, known.substr(begin, end - begin)});
            begin = (end - 1) / page * page;
        }
        ++it;
    }
}

void Recording::note_device_writes() {
    if (!is_on()) return;
    std::lock_guard lock(mutex_);
    for (auto &[address, known] : shared_) {
        if (on_device(reinterpret_cast<const void *>(address), known.size())) {
            std::memcpy(known.data(), reinterpret_cast<const void *>(address), known.size());
        }
    }
}

void Recording::note_copy(Plane to, Plane from, Box box) {
    if (!is_on()) return;
    auto target = memory().find(address_of(to.at)), source = memory().find(address_of(from.at));
    std::lock_guard lock(mutex_);
    note_host_writes_locked();
    if (is_of_host(source)) {
        // From the host to itself is no business of the device's: it is found as any other write.
        if (!is_of_host(target)) write_from_host(to, from, box);
        return;
    }
    if (is_replayed(target)) append(CopyStep{region(to), region(from), box});
    if (is_of_host(target)) append(ReadStep{box.width * box.height * box.depth});
}

void Recording::write_from_host(Plane to, Plane from, Box box) {
    if (!whole_ || box.width * box.height * box.depth > max_bytes_) {
        whole_ = false;
        return;
    }
    std::string data;
    for (size_t z = 0; z < box.depth; ++z) {
        for (size_t y = 0; y < box.height; ++y) data.append(from.at + z * from.slice + y * from.pitch, box.width);
    }
    append(WriteStep{region(to), box, std::move(data)});
}

Recording &recording() {
    static Recording *instance = new Recording;  // as the memory
    return *instance;
}

}  // namespace emu

using namespace emu;

// Begins a recording of at most so many bytes.
EMU_HOST void emu_recording_begin(uint64_t max_bytes) { recording().begin(max_bytes); }

// The steps noted from now on belong to the program's next call.
EMU_HOST void emu_recording_next_call() { recording().add(CallStep{}); }

// The steps noted so far, valid until the next call. Returns 0 when there were more than may be.
EMU_HOST int emu_recording_take(const char **steps, uint64_t *size) {
    static std::string taken;
    bool whole = recording().take(&taken);
    *steps = taken.data();
    *size = taken.size();
    return whole;
}
