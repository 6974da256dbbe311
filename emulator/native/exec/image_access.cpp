#include "exec/image_access.h"

#include "checks/faults.h"
#include "exec/block.h"

namespace emu {

void report_image_fault(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t size,
                        cudaError_t error, const std::string &kind, const std::string &why) {
    Launch &launch = warp->block->launch;
    ++launch.faults;
    if (!launch.first_at(site, error)) return;
    Fault fault = fault_at({warp, &warp->kernel->sites[site], lane, address});
    fault.kind = kind;
    fault.size = size;
    fault.message = kind + (size ? " of " + bytes(size) : "") + " at " + where(fault) + ": " + why;
    launch.doom(error, fault.message);
    launch.report_fault(site, error, std::move(fault));
}

SameObject take_object(WarpContext *warp, uint32_t site, uint32_t lanes, const uint64_t *handles, bool is_surface) {
    uint32_t first = static_cast<uint32_t>(__builtin_ctz(lanes)), same = 0;
    uint64_t handle = handles[first];
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(rest));
        same |= uint32_t{handles[lane] == handle} << lane;
    }
    const ImageView &images = *warp->block->launch.images;
    const ImageObject *object = images.find(handle);
    if (object && (object->is_surface != 0) == is_surface) return {same, object};
    std::string name = is_surface ? "surface" : "texture",
                why = "the handle " + std::to_string(handle) + " is no " + name + " object's";
    if (object)
        why = "the handle is a " + std::string(is_surface ? "texture" : "surface") + " object's";
    else if (images.was_destroyed(handle))
        why = "the " + name + " object has been destroyed";
    report_image_fault(warp, site, first, handle, 0, cudaErrorIllegalAddress, "invalid " + name + " object", why);
    return {same, nullptr};
}

}  // namespace emu
