// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: copies of the boxes of a tensor map.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "exec/block.h"
#include "exec/bulk_access.h"
#include "exec/bulk_copy.h"
#include "exec/cluster.h"
#include "exec/round_up.h"
#include "exec/semantics.h"
#include "exec/tensor_map.h"

namespace emu {

namespace {

// No block has as much shared memory.
constexpr uint64_t most_box_bytes = 256 << 10;

// The box of a tensor map at some coordinates: rows of its innermost dimension. Those of im2col are pixels, which begin
// at the coordinates and go on, by the element strides, through the box of pixels of each image; `offsets` move them
// all.
class Box {
public:
    Box(const TensorMap &map, const int32_t *coordinates, const uint32_t *offsets) : map_(map) {
        uint64_t rows = map.is_im2col() ? map.pixels : 1;
        for (uint32_t d = 0; d < map.rank; ++d) {
            at_[d] = lowest_[d] = coordinates[32 * d];
            uint32_t count = map.box[d] / map.step_of(d) + 1;
            bool is_image = map.is_im2col() && d + 1 == map.rank;
            highest_[d] = is_image ? INT64_MAX : at_[d] + int64_t{count - 1} * map.step_of(d);
            if (d && !map.is_im2col()) rows *= count;
            if (!d || !map.is_im2col() || is_image) continue;
            lowest_[d] = map.lower[d - 1];
            highest_[d] = int64_t{map.last[d]} + map.upper[d - 1];
            if (offsets) moved_by_[d] = offsets[32 * (d - 1)];
        }
        row_bytes_ = (map.box[0] + 1u) * map.element_bytes();
        size = rows * row_bytes_;
    }

    uint64_t size;

    // Why hardware refuses these coordinates (seen on an H200, but for those of im2col); empty where it does not.
    std::string why_illegal(bool stores) const {
        if (size > most_box_bytes) return "the box has " + std::to_string(size) + " bytes, more than shared memory";
        int64_t begins = at_[0] * int64_t{map_.element_bytes()};
        if (begins % bulk_piece) {
            return "the innermost coordinate is " + std::to_string(at_[0]) + ", which is " + std::to_string(begins) +
                   " bytes: it must be a multiple of " + std::to_string(bulk_piece) + " bytes";
        }
        for (uint32_t d = 0; stores && d < map_.rank; ++d) {
            if (at_[d] < 0)
                return "a store begins at coordinate " + std::to_string(at_[d]) + " of dimension " + std::to_string(d) +
                       ": only loads may begin before the tensor";
        }
        return {};
    }

    // The pieces of it that lie in the tensor.
    std::vector<GlobalRun> runs() const {
        std::vector<GlobalRun> runs;
        int64_t place[most_tensor_dimensions];
        std::copy_n(at_, most_tensor_dimensions, place);
        for (uint32_t begin = 0; begin < size; begin += row_bytes_) {
            uint64_t row = map_.address;
            bool inside = true;
            for (uint32_t d = 1; d < map_.rank; ++d) {
                int64_t moved = place[d] + moved_by_[d];
                inside &= moved >= 0 && moved <= int64_t{map_.last[d]};
                row += static_cast<uint64_t>(moved) * map_.stride[d - 1];
            }
            if (inside) add_row(runs, row, begin);
            for (uint32_t d = 1; d < map_.rank; ++d) {
                place[d] += map_.step_of(d);
                if (place[d] <= highest_[d]) break;
                place[d] = lowest_[d];
            }
        }
        return runs;
    }

private:
    void add_row(std::vector<GlobalRun> &runs, uint64_t row, uint32_t begin) const {
        uint32_t each = map_.element_bytes();
        int64_t first = std::max<int64_t>(0, -at_[0]),
                end = std::min<int64_t>(row_bytes_ / each, int64_t{map_.last[0]} + 1 - at_[0]);
        if (first >= end) return;
        runs.push_back({row + static_cast<uint64_t>(at_[0] + first) * each, begin + static_cast<uint32_t>(first) * each,
                        static_cast<uint32_t>(end - first) * each});
    }

    const TensorMap &map_;
    // Of each dimension: where the first row lies; where rows go on when a step has led them beyond the highest place;
    // and by how much all are moved.
    int64_t at_[most_tensor_dimensions] = {}, lowest_[most_tensor_dimensions] = {},
            highest_[most_tensor_dimensions] = {}, moved_by_[most_tensor_dimensions] = {};
    uint32_t row_bytes_;
};

// The map at this address, of that rank and kind; null where there is none, which is reported.
const TensorMap *map_at(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t rank,
                        bool is_im2col) {
    if (!may_access(warp, site, lane, address, TensorMap::bytes)) return nullptr;
    auto *map = reinterpret_cast<const TensorMap *>(address);
    std::string reason;
    if (address % 64)
        reason =
            "the tensor map lies at no multiple of 64 bytes: pass it as a const __grid_constant__ CUtensorMap "
            "parameter";
    else if (map->magic != TensorMap::right_magic || !map->is_sound())
        reason =
            "there is no tensor map at this address: cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col make them, on "
            "the host, and tensormap.replace of zeros";
    else if (map->rank != rank)
        reason =
            "the tensor map has " + std::to_string(map->rank) + " dimensions, the instruction " + std::to_string(rank);
    else if (map->is_im2col() != is_im2col)
        reason = std::string("the tensor map is ") + (is_im2col ? "tiled" : "of im2col") + ", the instruction is not";
    if (reason.empty()) {
        for (auto &observer : warp->block->observers) observer->use_map(*warp, site, lane, address);
        return map;
    }
    refuse_copy(warp, site, lane, address, cudaErrorIllegalInstruction, reason);
    return nullptr;
}

// Whether all pieces of the tensor may be accessed; `site` is of single bytes, `wide_site` of those that observers see.
bool may_access(WarpContext *warp, uint32_t site, uint32_t wide_site, uint32_t lane, const std::vector<GlobalRun> &runs,
                bool stores) {
    for (const GlobalRun &run : runs) {
        for (uint64_t at : {run.address, run.address + run.bytes - 1}) {
            if (passes(warp, site, at)) continue;
            uint64_t all[32] = {};
            all[lane] = at;
            check(warp, site, 1u << lane, all);
            if (all[lane] != at) return false;
        }
        tell(warp, lane,
             {wide_site, run.address, run.bytes, stores ? BulkStage::global_write : BulkStage::global_read, 0,
              &run == runs.data()});
    }
    return true;
}

// Fills elements outside the tensor: with NaN, or with zeros, as they are.
void fill(const TensorMap &map, std::vector<uint8_t> &image) {
    if (!map.fills_nan) return;
    const uint8_t half[] = {0xff, 0x7f}, word[] = {0xff, 0xff, 0xff, 0x7f},
                  wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    uint32_t each = map.element_bytes();
    const uint8_t *pattern = each == 2 ? half : each == 4 ? word : wide;
    for (size_t i = 0; i < image.size(); ++i) image[i] = pattern[i % each];
}

bool is_aligned(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t alignment) {
    uint64_t window = window_of(warp, address);
    if (!window || (address - window) % alignment == 0) return true;
    refuse_copy(warp, site, lane, address, cudaErrorMisalignedAddress,
                "its place in shared memory is no multiple of " + std::to_string(alignment) +
                    " bytes: declare it with alignas(" + std::to_string(alignment) + ")");
    return false;
}

}  // namespace

}  // namespace emu

using namespace emu;

void emu_tensor_load(WarpContext *warp, uint32_t map_site, uint32_t load_site, uint32_t store_site,
                     uint32_t barrier_site, uint32_t lanes, uint64_t *to, uint64_t *maps, const int32_t *coordinates,
                     uint32_t rank, const uint32_t *offsets, uint64_t *mbarrier, const uint32_t *blocks) {
    check(warp, barrier_site, lanes, mbarrier);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        const TensorMap *map = map_at(warp, map_site, l, maps[l], rank, offsets != nullptr);
        if (!map || !is_aligned(warp, store_site, l, to[l], 128)) return;
        Box box(*map, coordinates + l, offsets ? offsets + l : nullptr);
        if (std::string why = box.why_illegal(false); !why.empty())
            return refuse_copy(warp, load_site, l, map->address, cudaErrorIllegalInstruction, why);
        auto size = static_cast<uint32_t>(box.size);
        std::vector<GlobalRun> runs = box.runs();
        if (!may_access(warp, store_site, l, to[l], round_up(size, bulk_piece))) continue;
        if (!may_access(warp, load_site, map_site, l, runs, false)) continue;
        BulkCopy copy{warp->block, warp->warp_id, l, load_site, store_site, 0, 0, size, map->swizzle};
        copy.image.resize(size);
        fill(*map, copy.image);
        for (const GlobalRun &run : runs)
            std::memcpy(copy.image.data() + run.begin, reinterpret_cast<const void *>(run.address), run.bytes);
        copy_to_shared(warp, l, std::move(copy), to[l], mbarrier[l], blocks);
    }
}

void emu_tensor_store(WarpContext *warp, uint32_t map_site, uint32_t load_site, uint32_t store_site, uint32_t wide_site,
                      uint32_t lanes, uint64_t *maps, const int32_t *coordinates, uint32_t rank, uint32_t is_im2col,
                      uint64_t *from, uint32_t operation) {
    // By CUtensorMapDataType.
    constexpr uint32_t types[] = {~0u,      ~0u,      ATOM_U32, ATOM_S32,  ATOM_U64, ATOM_S64,
                                  ATOM_F16, ATOM_F32, ATOM_F64, ATOM_BF16, ATOM_F32};
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        const TensorMap *map = map_at(warp, map_site, l, maps[l], rank, is_im2col);
        if (!map || !is_aligned(warp, load_site, l, from[l], 128)) return;
        uint32_t type = map->type < std::size(types) ? types[map->type] : ~0u;
        if (operation != ~0u && type == ~0u) {
            return refuse_copy(warp, store_site, l, map->address, cudaErrorIllegalInstruction,
                               "the tensor map's data type cannot be reduced");
        }
        Box box(*map, coordinates + l, nullptr);
        if (std::string why = box.why_illegal(true); !why.empty())
            return refuse_copy(warp, store_site, l, map->address, cudaErrorIllegalInstruction, why);
        auto size = static_cast<uint32_t>(box.size);
        std::vector<GlobalRun> runs = box.runs();
        if (!may_access(warp, load_site, l, from[l], round_up(size, bulk_piece))) continue;
        if (!may_access(warp, store_site, wide_site, l, runs, true)) continue;
        uint64_t window = window_of(warp, from[l]);
        BulkCopy copy{
            warp->block, warp->warp_id, l, load_site, store_site, window, static_cast<uint32_t>(from[l] - window),
            size,        map->swizzle};
        copy.runs = std::move(runs);
        if (operation != ~0u) copy.code = operation | type << 4;
        tell_read(warp, load_site, l, from[l], size);
        warp->block->cluster().copies.issue_store(std::move(copy));
    }
}
