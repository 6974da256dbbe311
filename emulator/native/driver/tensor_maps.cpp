// Tensor maps, which programs also get by cudaGetDriverEntryPoint().

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>

#include "api/errors.h"
#include "checks/call_errors.h"
#include "exec/memory.h"
#include "exec/tensor_map.h"

namespace emu {

namespace {

// By CUtensorMapDataType.
constexpr uint32_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

struct Tiled {
    uint32_t type, rank;
    uint64_t address;
    const cuuint64_t *size, *stride;
    const cuuint32_t *box, *step;
    uint32_t interleave, swizzle, fill;
};

// What is wrong with it; empty: nothing.
std::string wrong_with(const Tiled &it) {
    if (it.type >= std::size(element_bytes)) return "a data type that the emulator does not know";
    if (it.rank < 1 || it.rank > most_tensor_dimensions) return std::to_string(it.rank) + " dimensions, of 1 to 5";
    if (!it.size || !it.box || !it.step || (it.rank > 1 && !it.stride)) return "a null pointer";
    if (it.address % 16) return "a global address that is no multiple of 16 bytes";
    if (it.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "a swizzle mode that the emulator does not know";
    uint64_t each = element_bytes[it.type];
    for (uint32_t d = 0; d < it.rank; ++d) {
        std::string of = " of dimension " + std::to_string(d);
        if (!it.size[d] || it.size[d] > uint64_t{1} << 32)
            return "a size" + of + " of " + std::to_string(it.size[d]) + ", of 1 to 2^32 elements";
        if (!it.box[d] || it.box[d] > 256)
            return "a box size" + of + " of " + std::to_string(it.box[d]) + ", of 1 to 256 elements";
        if (!it.step[d] || it.step[d] > 8)
            return "an element stride" + of + " of " + std::to_string(it.step[d]) + ", of 1 to 8";
        if (d + 1 == it.rank) continue;
        if (it.stride[d] % 16 || it.stride[d] >= uint64_t{1} << 40) {
            return "a stride" + std::string(" of ") + std::to_string(it.stride[d]) +
                   " bytes, which is no multiple of 16 below 2^40";
        }
    }
    uint64_t row = uint64_t{it.box[0]} * each;
    if (row % 16) return "rows of the box of " + std::to_string(row) + " bytes, which is no multiple of 16";
    uint64_t most = it.swizzle ? uint64_t{16} << it.swizzle : ~uint64_t{0};
    if (row > most)
        return "rows of the box of " + std::to_string(row) + " bytes, of which its swizzle mode takes " +
               std::to_string(most);
    bool is_float = it.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && it.type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    if (it.fill && !is_float) return "NaN as the fill of integers";
    return "";
}

CUresult encode_tiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                      const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step,
                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
    Tiled it{static_cast<uint32_t>(type),
             rank,
             reinterpret_cast<uint64_t>(address),
             size,
             stride,
             box,
             step,
             static_cast<uint32_t>(interleave),
             static_cast<uint32_t>(swizzle),
             static_cast<uint32_t>(fill)};
    if (it.interleave) {
        unsupported_call("cuTensorMapEncodeTiled with interleave");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    std::string wrong = out ? wrong_with(it) : "a null pointer";
    if (!wrong.empty()) {
        explain("bad tensor map", "cuTensorMapEncodeTiled was called with " + wrong);
        return CUDA_ERROR_INVALID_VALUE;
    }
    TensorMap map{};
    map.magic = TensorMap::right_magic;
    map.rank = static_cast<uint8_t>(rank);
    map.type = static_cast<uint8_t>(type);
    map.swizzle = static_cast<uint8_t>(swizzle);
    map.fills_nan = fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map.address = it.address;
    map.element_bytes = element_bytes[it.type];
    for (uint32_t d = 0; d < rank; ++d) {
        map.last[d] = static_cast<uint32_t>(size[d] - 1);
        map.box[d] = static_cast<uint16_t>(box[d] - 1);
        map.step[d] =
            static_cast<uint8_t>(d ? step[d] : 1);  // hardware has none in the first dimension, and ignores it
        if (d + 1 < rank) map.stride[d] = stride[d];
    }
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &map, sizeof map);
    return CUDA_SUCCESS;
}

CUresult replace_address(CUtensorMap *map, void *address) {
    auto *ours = reinterpret_cast<TensorMap *>(map);
    if (!map || ours->magic != TensorMap::right_magic || reinterpret_cast<uint64_t>(address) % 16)
        return CUDA_ERROR_INVALID_VALUE;
    ours->address = reinterpret_cast<uint64_t>(address);
    return CUDA_SUCCESS;
}

}  // namespace

}  // namespace emu

// Also for submissions, without cuInit().
EMU_API CUresult cuTensorMapEncodeTiled(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
                                        const cuuint32_t *step, CUtensorMapInterleave interleave,
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                        CUtensorMapFloatOOBfill fill) {
    return emu::encode_tiled(out, type, rank, address, size, stride, box, step, interleave, swizzle, promotion, fill);
}

EMU_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    return emu::replace_address(map, address);
}
