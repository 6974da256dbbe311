// Surface accesses: unformatted reads, writes and reductions of texels. The first coordinate counts bytes.

#include <algorithm>
#include <cstring>

#include "exec/block.h"
#include "exec/image_access.h"
#include "exec/semantics.h"

namespace emu {

namespace {

enum class Boundary : uint32_t { trap, clamp, zero };

// Where each of the lanes accesses the object, by their coordinates; those of `result` that do so.
uint32_t surface_addresses(WarpContext *warp, uint32_t site, const ImageObject &object, uint32_t lanes, uint32_t code,
                           const int32_t *coordinates, uint64_t *address) {
    auto geometry = static_cast<Geometry>(code & 7);
    auto boundary = static_cast<Boundary>(code >> 4 & 3);
    const ImageLevel &level = object.image.levels[0];
    const EmuSite &access = warp->kernel->sites[site];
    uint32_t begin = has_layer(geometry), axes = axes_of(geometry), result = 0;
    const int64_t size[] = {int64_t{level.width} * object.image.texel_bytes() - access.size + 1, level.height,
                            level.depth};
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        int64_t at[3] = {};
        for (uint32_t d = 0; d < axes; ++d) at[d] = coordinates[32 * (begin + d) + l];
        if (begin) at[2] = coordinates[l];
        bool inside = true;
        for (uint32_t d = 0; d < 3; ++d) inside &= at[d] >= 0 && at[d] < size[d];
        if (!inside && boundary == Boundary::zero) continue;
        if (!inside && boundary == Boundary::trap) {
            std::string text = std::to_string(at[0]);
            for (uint32_t d = 1; d < 3; ++d) text += ", " + std::to_string(at[d]);
            std::string shape = std::to_string(int64_t{level.width} * object.image.texel_bytes()) + " bytes x " +
                                std::to_string(level.height) + " x " + std::to_string(level.depth);
            report_image_fault(
                warp, site, l, 0, access.size, cudaErrorLaunchFailure,
                std::string("out-of-bounds surface ") + (access.kind == EMU_LOAD ? "read" : "write"),
                "it is at (" + text + ") of a surface of " + shape + " (the first coordinate counts bytes)");
            continue;
        }
        for (uint32_t d = 0; d < 3; ++d) at[d] = std::clamp<int64_t>(at[d], 0, std::max<int64_t>(size[d] - 1, 0));
        address[l] = level.address + static_cast<uint64_t>(at[2]) * level.slice +
                     static_cast<uint64_t>(at[1]) * level.pitch + static_cast<uint64_t>(at[0]);
        result |= 1u << l;
    }
    return result;
}

// Does `access(lanes, addresses)` for the lanes of each object. Returns the lanes that access nothing.
template <class Do>
uint32_t for_each_object(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                         const int32_t *coordinates, Do access) {
    uint32_t idle = lanes;
    while (lanes) {
        auto [same, object] = take_object(warp, site, lanes, handles, true);
        lanes &= ~same;
        uint64_t address[32] = {};
        uint32_t found = object ? surface_addresses(warp, site, *object, same, code, coordinates, address) : 0;
        if (!found) continue;
        idle &= ~found;
        for (auto &observer : warp->block->observers) observer->access(*warp, site, found, address);
        access(found, address);
    }
    return idle;
}

}  // namespace

}  // namespace emu

using namespace emu;

void emu_surface_load(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                      const int32_t *coordinates, uint32_t form, uint8_t *out) {
    uint32_t idle =
        for_each_object(warp, site, lanes, code, handles, coordinates,
                        [&](uint32_t found, uint64_t *address) { emu_load(warp, site, address, found, form, out); });
    uint32_t width = form & 255, count = form >> 8;
    for (; idle; idle &= idle - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(idle));
        for (uint32_t c = 0; c < count; ++c) std::memset(out + (size_t{32} * c + l) * width, 0, width);
    }
}

void emu_surface_store(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                       const int32_t *coordinates, uint32_t form, const uint8_t *data) {
    for_each_object(warp, site, lanes, code, handles, coordinates, [&](uint32_t found, uint64_t *address) {
        StoredValues stored{data, form >> 8, form & 255, form & 255};
        for (auto &observer : warp->block->observers) observer->store(*warp, site, found, address, stored);
        emu_store(warp, site, address, found, form, data);
    });
}

void emu_surface_reduce(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                        const int32_t *coordinates, uint32_t operation, const void *operand) {
    for_each_object(warp, site, lanes, code, handles, coordinates, [&](uint32_t found, uint64_t *address) {
        uint64_t old[32];
        emu_atomic(warp, operation, site, found, address, operand, operand, old);
    });
}
