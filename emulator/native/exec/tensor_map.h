// What a CUtensorMap holds: our own layout, which cuTensorMapEncode* and tensormap.replace make and
// cp.async.bulk.tensor reads. Kernels may write any bytes there: is_sound() comes before each use.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <iterator>

namespace emu {

constexpr uint32_t most_tensor_dimensions = 5;
// By CUtensorMapDataType.
constexpr uint32_t tensor_element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

struct TensorMap {
    static constexpr uint32_t right_magic = 0x50414d54, bytes = 128, most_pixels = 1024;

    uint32_t magic;
    uint8_t rank, type, swizzle, fills_nan;  // type: CUtensorMapDataType
    uint64_t address;
    uint32_t last[most_tensor_dimensions];        // elements of each dimension, less one
    uint64_t stride[most_tensor_dimensions - 1];  // bytes between neighbours of dimension 1 and on
    uint16_t box[most_tensor_dimensions];         // as encoded, less one; of im2col the first alone: the channels
    uint8_t step[most_tensor_dimensions];         // element strides; 0 where nobody has set them, which is 1
    // Of im2col: pixels of a column (0: the map is tiled), and the corners of the box where they lie, of each dimension
    // between the channels and the images: from the first element, and from the last.
    uint16_t pixels;
    int16_t lower[most_tensor_dimensions - 2], upper[most_tensor_dimensions - 2];

    bool is_im2col() const { return pixels != 0; }
    uint32_t element_bytes() const { return tensor_element_bytes[type]; }
    // Hardware has no step in the first dimension, and ignores one there.
    uint32_t step_of(uint32_t d) const { return d && step[d] ? step[d] : 1; }

    bool is_sound() const {
        if (rank < 1 || rank > most_tensor_dimensions || type >= std::size(tensor_element_bytes)) return false;
        if (swizzle > CU_TENSOR_MAP_SWIZZLE_128B || pixels > most_pixels || (is_im2col() && rank < 3)) return false;
        for (uint32_t d = 0; d < rank; ++d)
            if (box[d] > 255 || step[d] > 8) return false;
        return true;
    }
};
static_assert(sizeof(TensorMap) <= TensorMap::bytes);

}  // namespace emu
