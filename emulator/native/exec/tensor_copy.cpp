// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor: copies of the boxes of a tensor map.

#include <algorithm>
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

// The box of a tensor map at some coordinates.
class Box {
public:
    Box(const TensorMap &map, const int32_t *coordinates, uint32_t rank) : map_(map) {
        for (uint32_t d = 0; d < rank; ++d) {
            at_[d] = coordinates[32 * d];
            count_[d] = (map.box[d] + uint32_t{map.step[d]}) / map.step[d];
        }
        for (uint32_t d = rank; d < most_tensor_dimensions; ++d) count_[d] = 1;
        size = map.element_bytes;
        for (uint32_t count : count_) size *= count;
    }

    uint32_t size;

    // Why hardware refuses these coordinates (seen on an H200); empty where it does not.
    std::string why_illegal(bool stores) const {
        if (at_[0] * int64_t{map_.element_bytes} % bulk_piece) {
            return "the innermost coordinate is " + std::to_string(at_[0]) + ", which is " +
                   std::to_string(at_[0] * int64_t{map_.element_bytes}) + " bytes: it must be a multiple of " +
                   std::to_string(bulk_piece) + " bytes";
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
        uint32_t row_bytes = count_[0] * map_.element_bytes, begin = 0;
        for (uint32_t i4 = 0; i4 < count_[4]; ++i4)
            for (uint32_t i3 = 0; i3 < count_[3]; ++i3)
                for (uint32_t i2 = 0; i2 < count_[2]; ++i2)
                    for (uint32_t i1 = 0; i1 < count_[1]; ++i1, begin += row_bytes) {
                        const uint32_t index[] = {0, i1, i2, i3, i4};
                        uint64_t row = map_.address;
                        bool inside = true;
                        for (uint32_t d = 1; d < map_.rank; ++d) {
                            int64_t place = at_[d] + int64_t{index[d]} * map_.step[d];
                            inside &= place >= 0 && place <= int64_t{map_.last[d]};
                            row += static_cast<uint64_t>(place) * map_.stride[d - 1];
                        }
                        if (inside) add_row(runs, row, begin);
                    }
        return runs;
    }

private:
    void add_row(std::vector<GlobalRun> &runs, uint64_t row, uint32_t begin) const {
        uint32_t each = map_.element_bytes;
        int64_t first = std::max<int64_t>(0, -at_[0]),
                end = std::min<int64_t>(count_[0], int64_t{map_.last[0]} + 1 - at_[0]);
        if (first >= end) return;
        runs.push_back({row + static_cast<uint64_t>(at_[0] + first) * each, begin + static_cast<uint32_t>(first) * each,
                        static_cast<uint32_t>(end - first) * each});
    }

    const TensorMap &map_;
    int64_t at_[most_tensor_dimensions] = {};
    uint32_t count_[most_tensor_dimensions];
};

// The map at this address; null where there is none, which is reported.
const TensorMap *map_at(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t rank) {
    if (!may_access(warp, site, lane, address, 128)) return nullptr;
    auto *map = reinterpret_cast<const TensorMap *>(address);
    std::string reason;
    if (address % 64)
        reason =
            "the tensor map lies at no multiple of 64 bytes: pass it as a const __grid_constant__ CUtensorMap "
            "parameter";
    else if (map->magic != TensorMap::right_magic)
        reason = "there is no tensor map at this address: cuTensorMapEncodeTiled makes them, on the host";
    else if (map->rank != rank)
        reason =
            "the tensor map has " + std::to_string(map->rank) + " dimensions, the instruction " + std::to_string(rank);
    if (reason.empty()) return map;
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
    const uint8_t *pattern = map.element_bytes == 2 ? half : map.element_bytes == 4 ? word : wide;
    for (size_t i = 0; i < image.size(); ++i) image[i] = pattern[i % map.element_bytes];
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
                     uint32_t rank, uint64_t *mbarrier, const uint32_t *blocks) {
    check(warp, barrier_site, lanes, mbarrier);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        const TensorMap *map = map_at(warp, map_site, l, maps[l], rank);
        if (!map || !is_aligned(warp, store_site, l, to[l], 128)) return;
        Box box(*map, coordinates + l, rank);
        if (std::string why = box.why_illegal(false); !why.empty())
            return refuse_copy(warp, load_site, l, map->address, cudaErrorIllegalInstruction, why);
        std::vector<GlobalRun> runs = box.runs();
        if (!may_access(warp, store_site, l, to[l], round_up(box.size, bulk_piece))) continue;
        if (!may_access(warp, load_site, map_site, l, runs, false)) continue;
        BulkCopy copy{warp->block, warp->warp_id, l, load_site, store_site, 0, 0, box.size, map->swizzle};
        copy.image.resize(box.size);
        fill(*map, copy.image);
        for (const GlobalRun &run : runs)
            std::memcpy(copy.image.data() + run.begin, reinterpret_cast<const void *>(run.address), run.bytes);
        copy_to_shared(warp, l, std::move(copy), to[l], mbarrier[l], blocks);
    }
}

void emu_tensor_store(WarpContext *warp, uint32_t map_site, uint32_t load_site, uint32_t store_site, uint32_t wide_site,
                      uint32_t lanes, uint64_t *maps, const int32_t *coordinates, uint32_t rank, uint64_t *from,
                      uint32_t operation) {
    // By CUtensorMapDataType.
    constexpr uint32_t types[] = {~0u,      ~0u,      ATOM_U32, ATOM_S32,  ATOM_U64, ATOM_S64,
                                  ATOM_F16, ATOM_F32, ATOM_F64, ATOM_BF16, ATOM_F32};
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(lanes));
        const TensorMap *map = map_at(warp, map_site, l, maps[l], rank);
        if (!map || !is_aligned(warp, load_site, l, from[l], 128)) return;
        uint32_t type = map->type < std::size(types) ? types[map->type] : ~0u;
        if (operation != ~0u && type == ~0u) {
            return refuse_copy(warp, store_site, l, map->address, cudaErrorIllegalInstruction,
                               "the tensor map's data type cannot be reduced");
        }
        Box box(*map, coordinates + l, rank);
        if (std::string why = box.why_illegal(true); !why.empty())
            return refuse_copy(warp, store_site, l, map->address, cudaErrorIllegalInstruction, why);
        std::vector<GlobalRun> runs = box.runs();
        if (!may_access(warp, load_site, l, from[l], round_up(box.size, bulk_piece))) continue;
        if (!may_access(warp, store_site, wide_site, l, runs, true)) continue;
        uint64_t window = window_of(warp, from[l]);
        BulkCopy copy{
            warp->block, warp->warp_id, l, load_site, store_site, window, static_cast<uint32_t>(from[l] - window),
            box.size,    map->swizzle};
        copy.runs = std::move(runs);
        if (operation != ~0u) copy.code = operation | type << 4;
        warp->block->cluster().copies.issue_store(std::move(copy));
    }
}
