// Replays a recording (replay/recording.h) in a process that has the program's device code and none of its host code.
//
// The steps are a claim of the process that recorded them and may be forged. A step that cannot be done breaks the
// context; nothing outside the device's memory is accessed.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "api/copy.h"
#include "api/errors.h"
#include "api/modules.h"
#include "exec/launch.h"
#include "exec/memory.h"
#include "host.h"
#include "replay/recording.h"
#include "report/symbol_names.h"
#include "report/wire.h"

namespace emu {

namespace {

using VariableLocations = std::map<uint64_t, std::map<std::string, VariableLocation>>;  // by module and name

// What a recording may ask for: many times what a program could have had done in the seconds that its call may take. A
// launch has limits of its own. A row of a copy, however short, takes as long as these bytes do; a new allocation is
// spoilt up to these; to make or destroy a texture takes as long as there are others.
constexpr uint64_t max_steps = 1 << 18, max_bytes_moved = uint64_t{32} << 30;
constexpr uint64_t bytes_to_a_row = 256, bytes_to_an_image = 256, max_bytes_spoilt = 64 << 20;

constexpr unsigned programs_kinds = kind_bit(MemoryKind::device) | kind_bit(MemoryKind::managed) |
                                    kind_bit(MemoryKind::pinned_host) | kind_bit(MemoryKind::array);

// Why the step that is being done cannot be done.
std::string reason;

bool refuse(const std::string &why) {
    if (reason.empty()) reason = why;
    return false;
}

std::string hexadecimal(uint64_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(address));
    return text;
}

bool multiply(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_mul_overflow(a, b, out); }
bool add(uint64_t a, uint64_t b, uint64_t *out) { return !__builtin_add_overflow(a, b, out); }

// Whether the device has every byte from the first row of a box to the last.
bool is_there(const Region &region, const Box &box) {
    if (!box.width || !box.height || !box.depth) return refuse("an empty copy");
    uint64_t slices, rows, size;
    bool fits = multiply(box.depth - 1, region.slice, &slices) && multiply(box.height - 1, region.pitch, &rows) &&
                add(slices, rows, &size) && add(size, box.width, &size);
    if (fits && on_device(reinterpret_cast<const void *>(region.at), size)) return true;
    return refuse("a copy or memset at " + hexadecimal(region.at) + ", outside of allocations");
}

bool size_of(const Box &box, uint64_t *size) {
    return multiply(box.width, box.height, size) && multiply(*size, box.depth, size);
}

Plane plane(const Region &region) { return {reinterpret_cast<char *>(region.at), region.pitch, region.slice}; }

class Replay {
public:
    Replay(std::string_view steps, VariableLocations locations) : steps_(steps), locations_(std::move(locations)) {}

    void set_image(uint64_t number, const void *image) {
        images_[number] = register_image(image, std::move(locations_[number]));
    }

    bool run();

    bool step(const AllocateStep &it) {
        if (!(programs_kinds & 1u << static_cast<unsigned>(it.kind)) || !it.address || !it.size) {
            return refuse("an impossible allocation");
        }
        uint64_t address = memory().allocate(it.size, 256, it.kind, "", "an allocation", 0, it.address);
        if (!address)
            return refuse(std::to_string(it.size) + " bytes at " + hexadecimal(it.address) + " are not to be had");
        if (it.kind != MemoryKind::pinned_host) spoil(address, it.size);
        return true;
    }

    bool step(const ReleaseStep &it) {
        if (memory().release(it.address, programs_kinds)) return true;
        return refuse("no allocation begins at " + hexadecimal(it.address));
    }

    bool step(const VariableStep &it) {
        uint64_t module = module_of(it.module);
        if (!module) return false;
        if (load_module(module)) return refuse("a module cannot be loaded: " + failure_reason());
        if (variable_of(module, it.name).address == it.address) return true;
        return refuse("the variable " + it.name + " is not at " + hexadecimal(it.address));
    }

    bool step(const LimitStep &it) {
        if (!cudaDeviceSetLimit(static_cast<cudaLimit>(it.which), it.value)) return true;
        return refuse("an impossible limit");
    }

    bool step(const LaunchStep &it) {
        uint64_t module = module_of(it.module);
        Function *function = module ? function_named(module, it.kernel) : nullptr;
        if (!function) return refuse("a kernel of no module");
        const auto &[g, b] = std::pair(it.grid, it.block);
        LaunchShape shape{
            {g[0], g[1], g[2]}, {b[0], b[1], b[2]}, it.dynamic_shared, {it.cluster[0], it.cluster[1], it.cluster[2]}};
        if (!launch_again(*function, shape, it.params, it.cooperative != 0)) return true;
        if (sticky()) return false;  // which says why
        return refuse("an impossible launch of " + readable_name(it.kernel.c_str()));
    }

    bool step(const FillStep &it) {
        if (it.element != 1 && it.element != 2 && it.element != 4) return refuse("an impossible memset");
        if (!is_there(it.to, it.box)) return false;
        fill_box(plane(it.to), it.value, it.box, it.element);
        return true;
    }

    bool step(const CopyStep &it) {
        if (!is_there(it.to, it.box) || !is_there(it.from, it.box)) return false;
        copy_box(plane(it.to), plane(it.from), it.box);
        return true;
    }

    bool step(const WriteStep &it) {
        uint64_t size;
        if (!size_of(it.box, &size) || size != it.data.size()) return refuse("a copy of other bytes than were noted");
        if (!is_there(it.to, it.box)) return false;
        Plane from{const_cast<char *>(it.data.data()), it.box.width, it.box.width * it.box.height};
        copy_box(plane(it.to), from, it.box);
        return true;
    }

    bool step(const ReadStep &) { return true; }

    bool step(const ImageStep &it) {
        if (!is_sound(it.object)) return refuse("an impossible texture or surface");
        return image_objects().add_at(it.handle, it.object) ||
               refuse("a texture or surface with a handle that was given before");
    }

    bool step(const ImageReleaseStep &it) {
        return image_objects().remove(it.handle) || refuse("no texture or surface has the handle");
    }

    bool step(const HostRegisterStep &) { return true; }

    bool step(const HostStep &) { return true; }

    bool step(const CallStep &) {
        call_ends_ = true;
        return true;
    }

private:
    uint64_t module_of(uint64_t number) {
        auto found = images_.find(number);
        if (found != images_.end()) return found->second;
        refuse("code that is not in the program");
        return 0;
    }

    std::string_view steps_;  // that are still to be done
    bool call_ends_ = false;
    VariableLocations locations_;
    std::map<uint64_t, uint64_t> images_;  // the program's number of a module -> ours
};

template <class Noted, class Visitor>
bool visit_as(Reader &reader, Visitor &visitor) {
    Noted step{};
    reader(step);
    if (!reader.is_whole()) return refuse("steps that break off");
    return visitor.step(step);
}

template <class Visitor>
bool visit_next(Reader &reader, Visitor &visitor) {
    Step number;
    reader(number);
    switch (number) {
    case Step::allocate: return visit_as<AllocateStep>(reader, visitor);
    case Step::release: return visit_as<ReleaseStep>(reader, visitor);
    case Step::variable: return visit_as<VariableStep>(reader, visitor);
    case Step::limit: return visit_as<LimitStep>(reader, visitor);
    case Step::launch: return visit_as<LaunchStep>(reader, visitor);
    case Step::fill: return visit_as<FillStep>(reader, visitor);
    case Step::copy: return visit_as<CopyStep>(reader, visitor);
    case Step::write: return visit_as<WriteStep>(reader, visitor);
    case Step::read: return visit_as<ReadStep>(reader, visitor);
    case Step::call: return visit_as<CallStep>(reader, visitor);
    case Step::host_register: return visit_as<HostRegisterStep>(reader, visitor);
    case Step::host: return visit_as<HostStep>(reader, visitor);
    case Step::image: return visit_as<ImageStep>(reader, visitor);
    case Step::image_release: return visit_as<ImageReleaseStep>(reader, visitor);
    }
    return refuse("a step of no known kind");
}

template <class Visitor>
bool visit_all(std::string_view steps, Visitor &visitor) {
    Reader reader(steps);
    for (uint64_t count = 0; !reader.at_end(); ++count) {
        if (count == max_steps) return refuse("more than " + std::to_string(max_steps) + " steps");
        if (!visit_next(reader, visitor)) return false;
    }
    return true;
}

bool Replay::run() {
    // To open and close the device's memory for each step takes longer than most steps do.
    DeviceAccess access;
    Reader reader(steps_);
    for (call_ends_ = false; !reader.at_end() && !call_ends_;) {
        if (!visit_next(reader, *this)) return false;
    }
    steps_ = reader.rest();
    return true;
}

// What is known of a recording before anything of it is done.
struct Survey {
    EmuTransfers transfers = {};
    VariableLocations locations;
    uint64_t moved = 0, images = 0;

    template <class Noted>
    bool step(const Noted &) {
        return true;
    }
    // Of several calls the last one counts. What host and device share, they share from then on.
    bool step(const CallStep &) {
        uint64_t shared = transfers.shared, registered = transfers.registered;
        transfers = {};
        transfers.shared = shared;
        transfers.registered = registered;
        return true;
    }
    bool step(const HostRegisterStep &) {
        ++transfers.registered;
        return true;
    }
    bool step(const HostStep &it) {
        bool fits = add(transfers.host_ns, it.alone_ns, &transfers.host_ns) &&
                    add(transfers.overlapped_host_ns, it.overlapped_ns, &transfers.overlapped_host_ns);
        return fits || refuse("work of the host beyond all bounds");
    }
    bool step(const VariableStep &it) {
        locations[it.module][it.name] = {it.address, it.kind == MemoryKind::managed_variable};
        transfers.shared += it.kind == MemoryKind::managed_variable;
        return true;
    }
    bool step(const AllocateStep &it) {
        transfers.shared += shared_with_host(it.kind);
        return move(std::min(it.size, max_bytes_spoilt));
    }
    bool step(const ImageStep &) { return move(++images * bytes_to_an_image); }
    bool step(const ImageReleaseStep &) { return move((images ? images-- : 0) * bytes_to_an_image); }
    bool step(const FillStep &it) { return count(it.box, &transfers.fills, &transfers.filled_bytes); }
    bool step(const CopyStep &it) { return count(it.box, &transfers.copies, &transfers.copied_bytes); }
    bool step(const WriteStep &it) { return count(it.box, &transfers.writes, &transfers.written_bytes); }
    bool step(const ReadStep &it) {
        // It takes no time here.
        ++transfers.reads;
        return add(transfers.read_bytes, it.size, &transfers.read_bytes) || refuse("a copy beyond all bounds");
    }

    bool count(const Box &box, uint64_t *number, uint64_t *bytes) {
        uint64_t size, rows, beside;
        if (!size_of(box, &size) || !add(*bytes, size, bytes)) return refuse("a copy beyond all bounds");
        if (!multiply(box.height, box.depth, &rows) || !multiply(rows, bytes_to_a_row, &beside))
            beside = max_bytes_moved;
        ++*number;
        return move(size) && move(beside);
    }

    bool move(uint64_t bytes) {
        if (add(moved, bytes, &moved) && moved <= max_bytes_moved) return true;
        return refuse("copies, memsets and allocations of more than " + std::to_string(max_bytes_moved >> 30) + " GiB");
    }
};

Replay *replay = nullptr;

}  // namespace

}  // namespace emu

using namespace emu;

// Looks through a recording, once in a process, which has loaded no program; `steps` must stay. Returns an error for
// what is none.
EMU_HOST int emu_replay_open(const char *steps, uint64_t size, EmuTransfers *transfers) {
    Survey survey;
    if (replay) refuse("there is a replay already");
    if (replay || !visit_all({steps, size}, survey)) return cudaErrorInvalidValue;
    *transfers = survey.transfers;
    memory().prefer_upper_half();
    replay = new Replay({steps, size}, std::move(survey.locations));
    return cudaSuccess;
}

// The fat binary of the module that has this number in the recording; `image` must stay.
EMU_HOST void emu_replay_image(uint64_t number, const void *image) { replay->set_image(number, image); }

// Does the steps of the next call. What cannot be done breaks the context.
EMU_HOST void emu_replay_run() {
    if (!replay->run() && !sticky()) poison(cudaErrorUnknown, reason);
}

// Why emu_replay_open() failed.
EMU_HOST const char *emu_replay_reason() { return reason.c_str(); }
