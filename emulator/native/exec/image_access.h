// What texture fetches and surface accesses have in common: which object the lanes name, where a texel lies, and the
// faults.
#pragma once

#include <cstdint>
#include <string>

#include "abi.h"
#include "exec/images.h"

namespace emu {

// As emulator/jit/ops/image.py numbers them.
enum class Geometry : uint32_t { of_1d, of_2d, of_3d, layers_1d, layers_2d, cube, cube_layers };

inline bool has_layer(Geometry it) {
    return it == Geometry::layers_1d || it == Geometry::layers_2d || it == Geometry::cube_layers;
}

// How many coordinates there are, without the layer.
inline uint32_t axes_of(Geometry it) {
    if (it == Geometry::of_1d || it == Geometry::layers_1d) return 1;
    return it == Geometry::of_2d || it == Geometry::layers_2d ? 2 : 3;
}

inline uint64_t texel_address(const Image &image, const ImageLevel &level, uint32_t x, uint32_t y, uint32_t z) {
    return level.address + z * level.slice + y * level.pitch + uint64_t{x} * image.texel_bytes();
}

// Those of `lanes` that have the first lane's handle, and the object that it stands for; null, with a finding, where
// there is none.
struct SameObject {
    uint32_t lanes;
    const ImageObject *object;
};
SameObject take_object(WarpContext *warp, uint32_t site, uint32_t lanes, const uint64_t *handles, bool is_surface);

// Adds a finding of lane `lane`, of which the launch fails with `error`. `size`: bytes of the access, 0: of none.
void report_image_fault(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t size,
                        cudaError_t error, const std::string &kind, const std::string &why);

}  // namespace emu
