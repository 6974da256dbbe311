// What a CUtensorMap holds: our own layout, which cuTensorMapEncodeTiled makes and cp.async.bulk.tensor reads.
#pragma once

#include <cstdint>

namespace emu {

constexpr uint32_t most_tensor_dimensions = 5;

enum TensorReduction : uint32_t {
    TENSOR_ADD,
    TENSOR_MIN,
    TENSOR_MAX,
    TENSOR_INC,
    TENSOR_DEC,
    TENSOR_AND,
    TENSOR_OR,
    TENSOR_XOR
};

struct TensorMap {
    static constexpr uint32_t right_magic = 0x50414d54;

    uint32_t magic;
    uint8_t rank, type, swizzle, fills_nan;  // type: CUtensorMapDataType
    uint64_t address;
    uint32_t last[most_tensor_dimensions];  // elements of each dimension, less one
    uint32_t element_bytes;
    uint64_t stride[most_tensor_dimensions - 1];  // bytes between neighbours of dimension 1 and on
    uint16_t box[most_tensor_dimensions];         // as encoded, less one
    uint8_t step[most_tensor_dimensions];         // element strides
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace emu
