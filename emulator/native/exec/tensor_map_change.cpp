// tensormap.replace and tensormap.cp_fenceproxy: tensor maps that kernels change, or make of zeros.

#include <algorithm>
#include <cstring>
#include <string>

#include "exec/block.h"
#include "exec/bulk_access.h"
#include "exec/semantics.h"
#include "exec/tensor_map.h"

namespace emu {

namespace {

// CUtensorMapDataType of what PTX calls .elemtype.
constexpr uint8_t types_of_ptx[] = {
    CU_TENSOR_MAP_DATA_TYPE_UINT8,       CU_TENSOR_MAP_DATA_TYPE_UINT16,   CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,       CU_TENSOR_MAP_DATA_TYPE_UINT64,   CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,  CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,     CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};

// What is wrong with the value; empty: nothing, and the map has it now.
std::string change(TensorMap &map, uint32_t field, uint32_t index, uint64_t value) {
    auto is_of = [value](uint64_t least, uint64_t most) { return value >= least && value <= most; };
    std::string number = std::to_string(value);
    switch (field) {
    case FIELD_ADDRESS:
        if (value % 16) return "a global address that is no multiple of 16 bytes";
        map.address = value;
        return "";
    case FIELD_RANK:
        if (!is_of(0, most_tensor_dimensions - 1)) return "a rank of " + number + ", which is one less, of 0 to 4";
        map.rank = static_cast<uint8_t>(value + 1);
        return "";
    case FIELD_BOX:
        if (!is_of(1, 256)) return "a box size of " + number + ", of 1 to 256";
        map.box[index] = static_cast<uint16_t>(value - 1);
        return "";
    case FIELD_SIZE:  // 0 is 2^32, which does not fit the operand
        map.last[index] = static_cast<uint32_t>(value - 1);
        return "";
    case FIELD_STRIDE:
        if (value % 16 || value >> 40) return "a stride of " + number + " bytes, which is no multiple of 16 below 2^40";
        map.stride[index] = value;
        return "";
    case FIELD_STEP:
        if (!is_of(1, 8)) return "an element stride of " + number + ", of 1 to 8";
        map.step[index] = static_cast<uint8_t>(value);
        return "";
    case FIELD_TYPE:
        if (value >= std::size(types_of_ptx))
            return "the element type " + number + ", which the emulator does not know";
        map.type = types_of_ptx[value];
        return "";
    case FIELD_SWIZZLE:
        if (value > CU_TENSOR_MAP_SWIZZLE_128B)
            return "the swizzle mode " + number + ", which the emulator does not know";
        map.swizzle = static_cast<uint8_t>(value);
        return "";
    case FIELD_FILL:
        if (value > 1) return "the fill mode " + number + ", of 0 and 1";
        map.fills_nan = value != 0;
        return "";
    case FIELD_INTERLEAVE: return value ? "an interleaved layout, which the emulator does not know" : "";
    default: return value ? "an atomicity of the swizzle mode that the emulator does not know" : "";
    }
}

bool is_zero(const uint8_t *bytes) {
    return std::all_of(bytes, bytes + TensorMap::bytes, [](uint8_t byte) { return !byte; });
}

}  // namespace

}  // namespace emu

using namespace emu;

void emu_tensor_map_replace(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *maps, uint32_t field,
                            uint32_t index, const uint64_t *value) {
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        if (!may_access(warp, site, l, maps[l], TensorMap::bytes)) continue;
        auto refuse = [&](cudaError_t error, const std::string &reason) {
            refuse_copy(warp, site, l, maps[l], error, "tensormap.replace: " + reason);
        };
        if (maps[l] % TensorMap::bytes)
            return refuse(cudaErrorMisalignedAddress, "the tensor map lies at no multiple of 128 bytes");
        TensorMap map;
        std::memcpy(&map, reinterpret_cast<const void *>(maps[l]), sizeof map);
        if (map.magic != TensorMap::right_magic && !is_zero(reinterpret_cast<const uint8_t *>(maps[l])))
            return refuse(cudaErrorIllegalInstruction, "there is neither a tensor map at this address, nor zeros");
        map.magic = TensorMap::right_magic;
        if (std::string wrong = change(map, field, index, value[l]); !wrong.empty())
            return refuse(cudaErrorIllegalInstruction, "it brings " + wrong);
        std::memcpy(reinterpret_cast<void *>(maps[l]), &map, sizeof map);
    }
}

void emu_tensor_map_copy(WarpContext *warp, uint32_t load_site, uint32_t store_site, uint64_t *to, uint64_t *from) {
    constexpr uint32_t lanes = (1u << TensorMap::bytes / bulk_piece) - 1;
    if (to[0] % TensorMap::bytes || from[0] % TensorMap::bytes) {
        return refuse_copy(warp, store_site, 0, to[0], cudaErrorMisalignedAddress,
                           "tensormap.cp_fenceproxy: a tensor map lies at no multiple of 128 bytes");
    }
    check(warp, load_site, lanes, from);
    check(warp, store_site, lanes, to);
    for (uint32_t l = 0; l < TensorMap::bytes / bulk_piece; ++l)
        std::memcpy(reinterpret_cast<void *>(to[l]), reinterpret_cast<const void *>(from[l]), bulk_piece);
}
