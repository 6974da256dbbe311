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

// What both kinds of maps have.
struct Tensor {
    uint32_t type, rank;
    uint64_t address;
    const cuuint64_t *size, *stride;
    const cuuint32_t *step;
    uint32_t interleave, swizzle, fill;
};

// What is wrong with it; empty: nothing. `row`: elements of the box's innermost dimension.
std::string wrong_with(const Tensor &it, uint32_t row) {
    if (it.type >= std::size(tensor_element_bytes)) return "a data type that the emulator does not know";
    if (!it.size || !it.step || (it.rank > 1 && !it.stride)) return "a null pointer";
    if (it.address % 16) return "a global address that is no multiple of 16 bytes";
    if (it.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) return "a swizzle mode that the emulator does not know";
    for (uint32_t d = 0; d < it.rank; ++d) {
        std::string of = " of dimension " + std::to_string(d);
        if (!it.size[d] || it.size[d] > uint64_t{1} << 32)
            return "a size" + of + " of " + std::to_string(it.size[d]) + ", of 1 to 2^32 elements";
        if (!it.step[d] || it.step[d] > 8)
            return "an element stride" + of + " of " + std::to_string(it.step[d]) + ", of 1 to 8";
        if (d + 1 == it.rank) continue;
        if (it.stride[d] % 16 || it.stride[d] >= uint64_t{1} << 40) {
            return "a stride" + std::string(" of ") + std::to_string(it.stride[d]) +
                   " bytes, which is no multiple of 16 below 2^40";
        }
    }
    uint64_t row_bytes = uint64_t{row} * tensor_element_bytes[it.type];
    if (row_bytes % 16) return "rows of the box of " + std::to_string(row_bytes) + " bytes, which is no multiple of 16";
    uint64_t most = it.swizzle ? uint64_t{16} << it.swizzle : ~uint64_t{0};
    if (row_bytes > most)
        return "rows of the box of " + std::to_string(row_bytes) + " bytes, of which its swizzle mode takes " +
               std::to_string(most);
    bool is_float = it.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && it.type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    if (it.fill && !is_float) return "NaN as the fill of integers";
    return "";
}

std::string wrong_with_box(const cuuint32_t *box, uint32_t rank) {
    if (!box) return "a null pointer";
    for (uint32_t d = 0; d < rank; ++d) {
        if (!box[d] || box[d] > 256) {
            return "a box size of dimension " + std::to_string(d) + " of " + std::to_string(box[d]) +
                   ", of 1 to 256 elements";
        }
    }
    return "";
}

// The box of an im2col map, whose corners have a number for each dimension but the first and the last.
struct PixelBox {
    const int *lower, *upper;
    uint32_t channels, pixels;
};

std::string wrong_with_pixels(const PixelBox &it, const Tensor &tensor) {
    if (!it.lower || !it.upper) return "a null pointer";
    if (!it.channels || it.channels > 256) return std::to_string(it.channels) + " channels of a pixel, of 1 to 256";
    if (!it.pixels || it.pixels > TensorMap::most_pixels)
        return std::to_string(it.pixels) + " pixels of a column, of 1 to " + std::to_string(TensorMap::most_pixels);
    int most = 1 << (tensor.rank == 3 ? 15 : tensor.rank == 4 ? 7 : 4);
    for (uint32_t d = 0; d + 2 < tensor.rank; ++d) {
        for (int corner : {it.lower[d], it.upper[d]}) {
            if (corner >= -most && corner < most) continue;
            return "a corner of the box of pixels of " + std::to_string(corner) + ", of " + std::to_string(-most) +
                   " to " + std::to_string(most - 1);
        }
        if (it.lower[d] > static_cast<int64_t>(tensor.size[d + 1]) - 1 + it.upper[d])
            return "corners of the box of pixels between which there is nothing";
    }
    return "";
}

TensorMap map_of(const Tensor &it) {
    TensorMap map{};
    map.magic = TensorMap::right_magic;
    map.rank = static_cast<uint8_t>(it.rank);
    map.type = static_cast<uint8_t>(it.type);
    map.swizzle = static_cast<uint8_t>(it.swizzle);
    map.fills_nan = it.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    map.address = it.address;
    for (uint32_t d = 0; d < it.rank; ++d) {
        map.last[d] = static_cast<uint32_t>(it.size[d] - 1);
        map.step[d] = static_cast<uint8_t>(it.step[d]);
        if (d + 1 < it.rank) map.stride[d] = it.stride[d];
    }
    return map;
}

void put(CUtensorMap *out, const TensorMap &map) {
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &map, sizeof map);
}

CUresult refuse(const char *call, const std::string &wrong) {
    explain("bad tensor map", std::string(call) + " was called with " + wrong);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult encode_tiled(CUtensorMap *out, const Tensor &it, const cuuint32_t *box) {
    constexpr const char *call = "cuTensorMapEncodeTiled";
    if (it.interleave) {
        unsupported_call("cuTensorMapEncodeTiled with interleave");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!out) return refuse(call, "a null pointer");
    if (it.rank < 1 || it.rank > most_tensor_dimensions)
        return refuse(call, std::to_string(it.rank) + " dimensions, of 1 to 5");
    if (std::string wrong = wrong_with_box(box, it.rank); !wrong.empty()) return refuse(call, wrong);
    if (std::string wrong = wrong_with(it, box[0]); !wrong.empty()) return refuse(call, wrong);
    TensorMap map = map_of(it);
    for (uint32_t d = 0; d < it.rank; ++d) map.box[d] = static_cast<uint16_t>(box[d] - 1);
    put(out, map);
    return CUDA_SUCCESS;
}

CUresult encode_im2col(CUtensorMap *out, const Tensor &it, const PixelBox &box) {
    constexpr const char *call = "cuTensorMapEncodeIm2col";
    if (it.interleave) {
        unsupported_call("cuTensorMapEncodeIm2col with interleave");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    if (!out) return refuse(call, "a null pointer");
    if (it.rank < 3 || it.rank > most_tensor_dimensions)
        return refuse(call, std::to_string(it.rank) + " dimensions, of 3 to 5");
    if (std::string wrong = wrong_with(it, box.channels); !wrong.empty()) return refuse(call, wrong);
    if (std::string wrong = wrong_with_pixels(box, it); !wrong.empty()) return refuse(call, wrong);
    TensorMap map = map_of(it);
    map.box[0] = static_cast<uint16_t>(box.channels - 1);
    map.pixels = static_cast<uint16_t>(box.pixels);
    for (uint32_t d = 0; d + 2 < it.rank; ++d) {
        map.lower[d] = static_cast<int16_t>(box.lower[d]);
        map.upper[d] = static_cast<int16_t>(box.upper[d]);
    }
    put(out, map);
    return CUDA_SUCCESS;
}

Tensor tensor(CUtensorMapDataType type, cuuint32_t rank, void *address, const cuuint64_t *size,
              const cuuint64_t *stride, const cuuint32_t *step, CUtensorMapInterleave interleave,
              CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
    return {static_cast<uint32_t>(type),
            rank,
            reinterpret_cast<uint64_t>(address),
            size,
            stride,
            step,
            static_cast<uint32_t>(interleave),
            static_cast<uint32_t>(swizzle),
            static_cast<uint32_t>(fill)};
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
                                        CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                        CUtensorMapFloatOOBfill fill) {
    return emu::encode_tiled(out, emu::tensor(type, rank, address, size, stride, step, interleave, swizzle, fill), box);
}

EMU_API CUresult cuTensorMapEncodeIm2col(CUtensorMap *out, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                         const cuuint64_t *size, const cuuint64_t *stride, const int *lower,
                                         const int *upper, cuuint32_t channels, cuuint32_t pixels,
                                         const cuuint32_t *step, CUtensorMapInterleave interleave,
                                         CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                                         CUtensorMapFloatOOBfill fill) {
    return emu::encode_im2col(out, emu::tensor(type, rank, address, size, stride, step, interleave, swizzle, fill),
                              {lower, upper, channels, pixels});
}

EMU_API CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
    return emu::replace_address(map, address);
}
