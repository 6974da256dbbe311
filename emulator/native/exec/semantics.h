// Helpers that generated code calls for instructions which are not worth emitting inline. Arrays have one element per
// lane; a vector access has `count` such arrays one after another. `lanes` is a bit per active lane; other lanes'
// elements are left alone.
#pragma once

#include "abi.h"

#define EMU_SEMANTICS extern "C" __attribute__((visibility("default")))

// A register of which uniform code keeps one value: where its lanes and that value lie in the register file, bytes of
// an element (0: a predicate, whose lanes are bits and serve uniform code, too), and what lane l has more than the base
// (null: nothing).
struct EmuShape {
    uint32_t lanes, scalar, size;
    const int64_t *pattern;
};
// The scalar, which is lane 0's value, to all lanes.
EMU_SEMANTICS void emu_spread(uint8_t *registers, const EmuShape *shapes, uint32_t count);
// Whether all lanes of all these registers hold what lane 0's value and the shape say; the scalars are then lane 0's
// values.
EMU_SEMANTICS uint32_t emu_shapes_hold(uint8_t *registers, const EmuShape *shapes, uint32_t count);

// Checked accesses, lane by lane. site -1: unchecked (known to be good). form: bytes of an element | count << 8.
// Addresses are given one by one, as offsets in the shared window, or as a base and a constant offset per lane.
EMU_SEMANTICS void emu_load(WarpContext *, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form, void *out);
EMU_SEMANTICS void emu_store(WarpContext *, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form,
                             const void *data);
EMU_SEMANTICS void emu_load_shared(WarpContext *, uint32_t site, const uint32_t *offset, uint32_t lanes, uint32_t form,
                                   void *out);
EMU_SEMANTICS void emu_store_shared(WarpContext *, uint32_t site, const uint32_t *offset, uint32_t lanes, uint32_t form,
                                    const void *data);
EMU_SEMANTICS void emu_load_pattern(WarpContext *, uint32_t site, uint64_t base, const int64_t *pattern, uint32_t form,
                                    void *out);
EMU_SEMANTICS void emu_store_pattern(WarpContext *, uint32_t site, uint64_t base, const int64_t *pattern, uint32_t form,
                                     const void *data);

// Operation and type codes of emu_atomic, as emulator/jit/ops/atomic.py has them: operation | type << 4 | shared << 8.
enum EmuAtomicOperation : uint32_t {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_EXCH,
    ATOM_CAS,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_INC,
    ATOM_DEC
};
enum EmuAtomicType : uint32_t {
    ATOM_U32,
    ATOM_S32,
    ATOM_F32,
    ATOM_U64,
    ATOM_S64,
    ATOM_F64,
    ATOM_F16,
    ATOM_BF16,
    ATOM_F16X2,
    ATOM_BF16X2,
    ATOM_B16
};
// Of vectors element by element: `operand`, `second` and `old` have 32 values for each element of the site.
EMU_SEMANTICS void emu_atomic(WarpContext *, uint32_t code, uint32_t site, uint32_t lanes, uint64_t *address,
                              const void *operand, const void *second, void *old);

// cp.async: of `size` bytes `wanted` come from `from`, the others are zeros. They land by a wait (see
// exec/async_copy.h). `part_site` is of single bytes, for lanes that want less than `size`.
EMU_SEMANTICS void emu_cp_async(WarpContext *, uint32_t load_site, uint32_t part_site, uint32_t store_site,
                                uint32_t lanes, uint64_t *to, uint64_t *from, uint32_t size, const uint32_t *wanted);
EMU_SEMANTICS void emu_cp_async_commit(WarpContext *, uint32_t lanes);
// All but the last `left` groups.
EMU_SEMANTICS void emu_cp_async_wait(WarpContext *, uint32_t lanes, uint32_t left);
EMU_SEMANTICS void emu_cp_async_wait_all(WarpContext *, uint32_t lanes);
// `counts`: the arrival is one more than the mbarrier was told to expect.
EMU_SEMANTICS void emu_cp_async_arrive(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *mbarrier,
                                       uint32_t counts);

EMU_SEMANTICS void emu_mbarrier_init(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address,
                                     const uint32_t *count);
EMU_SEMANTICS void emu_mbarrier_arrive(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address,
                                       const uint32_t *count, uint32_t drop, const uint32_t *bytes, uint64_t *state);
// Adds to the bytes that an mbarrier expects, or subtracts those that have come.
EMU_SEMANTICS void emu_mbarrier_bytes(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address,
                                      const uint32_t *bytes, uint32_t have_come);
// The lanes for which the phase of `state` (or that of this parity) is complete.
EMU_SEMANTICS uint32_t emu_mbarrier_test(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address,
                                         const uint64_t *state, uint32_t by_parity);
EMU_SEMANTICS void emu_mbarrier_pending(const uint64_t *state, uint32_t *count);

// cp.async.bulk (exec/bulk_copy.h). Into shared memory of the cluster: `size` bytes from global or shared memory, of
// which the mbarrier counts the arrival; `blocks` (null: none): the ranks that get a copy each, and count it. Into
// global memory: `code` is ~0 for a plain copy, else as emu_atomic has it.
EMU_SEMANTICS void emu_bulk_load(WarpContext *, uint32_t load_site, uint32_t store_site, uint32_t barrier_site,
                                 uint32_t lanes, uint64_t *to, uint64_t *from, const uint32_t *size, uint64_t *mbarrier,
                                 const uint32_t *blocks);
EMU_SEMANTICS void emu_bulk_store(WarpContext *, uint32_t load_site, uint32_t store_site, uint32_t lanes, uint64_t *to,
                                  uint64_t *from, const uint32_t *size, uint32_t code);
// The same by a tensor map, of a box at `rank` coordinates: 32 of each. `offsets` of im2col: 32 of each of the
// dimensions between; null: it is tiled.
EMU_SEMANTICS void emu_tensor_load(WarpContext *, uint32_t map_site, uint32_t load_site, uint32_t store_site,
                                   uint32_t barrier_site, uint32_t lanes, uint64_t *to, uint64_t *map,
                                   const int32_t *coordinates, uint32_t rank, const uint32_t *offsets,
                                   uint64_t *mbarrier, const uint32_t *blocks);
EMU_SEMANTICS void emu_tensor_store(WarpContext *, uint32_t map_site, uint32_t load_site, uint32_t store_site,
                                    uint32_t wide_site, uint32_t lanes, uint64_t *map, const int32_t *coordinates,
                                    uint32_t rank, uint32_t is_im2col, uint64_t *from, uint32_t operation);
// tensormap.replace: `field` is a TensorMapField; `index` the dimension, where it has one for each.
enum TensorMapField : uint32_t {
    FIELD_ADDRESS,
    FIELD_RANK,
    FIELD_BOX,
    FIELD_SIZE,
    FIELD_STRIDE,
    FIELD_STEP,
    FIELD_TYPE,
    FIELD_INTERLEAVE,
    FIELD_SWIZZLE,
    FIELD_FILL,
    FIELD_ATOMICITY
};
EMU_SEMANTICS void emu_tensor_map_replace(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *map, uint32_t field,
                                          uint32_t index, const uint64_t *value);
// tensormap.cp_fenceproxy: eight lanes copy 16 bytes each.
EMU_SEMANTICS void emu_tensor_map_copy(WarpContext *, uint32_t load_site, uint32_t store_site, uint64_t *to,
                                       uint64_t *from);
// st.async and red.async: `values` has 32 elements of `width` bytes for each that a lane stores; `code` as above.
EMU_SEMANTICS void emu_store_async(WarpContext *, uint32_t store_site, uint32_t barrier_site, uint32_t lanes,
                                   uint64_t *to, uint64_t *mbarrier, const uint8_t *values, uint32_t width,
                                   uint32_t code);
EMU_SEMANTICS void emu_bulk_commit(WarpContext *, uint32_t lanes);
EMU_SEMANTICS void emu_bulk_wait(WarpContext *, uint32_t lanes, uint32_t left);

// barrier.cluster: the lanes arrive, or are to wait (generated code then does what it does for a barrier of the block).
EMU_SEMANTICS void emu_cluster_arrive(WarpContext *, uint32_t lanes);
EMU_SEMANTICS void emu_cluster_wait(WarpContext *, uint32_t lanes);
// Special registers: 0 to 2 the block's place in its cluster, 3 to 5 the cluster's shape, 6 to 8 the cluster's place in
// the grid, 9 to 11 how many clusters the grid has, 12 the block's rank, 13 the cluster's blocks, 14 whether it was
// launched with clusters.
EMU_SEMANTICS uint32_t emu_cluster_register(const WarpContext *, uint32_t which);
// isspacep.shared::cluster.
EMU_SEMANTICS uint32_t emu_cluster_lanes(const WarpContext *, uint32_t lanes, const uint64_t *address);

// wgmma.mma_async of one warp: its 16 rows of d (`n` columns, 32 registers each) += a b. `code`: type of a | of b << 4
// | of d << 8 | transposed a << 12 | transposed b << 13 | negated a << 14 | negated b << 15 | satfinite << 16. `a`:
// four registers, or null: `a_descriptor`. `keeps`: a bit per lane, 0: d begins at zero.
EMU_SEMANTICS void emu_wgmma(WarpContext *, uint32_t site, uint32_t n, uint32_t code, const uint32_t *a,
                             const uint64_t *a_descriptor, const uint64_t *b_descriptor, uint32_t keeps, uint32_t *d);
EMU_SEMANTICS void emu_wgmma_commit(WarpContext *);
// The lanes wait until all warps of their warpgroup have issued the groups that must be complete: all of theirs but the
// last `left`. Generated code goes on as behind emu_barrier_arrive.
EMU_SEMANTICS void emu_wgmma_wait(WarpContext *, uint32_t lanes, uint32_t left);
// The lanes use registers of a wgmma whose group they have not waited for; `site` is that of the use, `of` that of the
// wgmma.
EMU_SEMANTICS void emu_wgmma_early(WarpContext *, uint32_t site, uint32_t of, uint32_t lanes);

EMU_SEMANTICS void emu_stmatrix(WarpContext *, uint32_t site, uint32_t count, uint32_t transposed, uint64_t *rows,
                                const uint32_t *in);

// tex and tld4 (exec/texture.cpp). `first_site`: the first of those of texels of 1, 2, 4, 8 and 16 bytes. `code`: a
// Geometry | integer coordinates << 3 | level << 4 (1: a number, 2: derivatives of the coordinates, in `levels`) | tld4
// << 6 | its component << 8. `coordinates`: the layer, if there is one, and then the others, 32 of each; `out`: 32 of
// each of four channels.
EMU_SEMANTICS void emu_texture(WarpContext *, uint32_t first_site, uint32_t lanes, uint32_t code,
                               const uint64_t *handles, const uint32_t *coordinates, const float *levels,
                               uint32_t *out);
// txq and suq. `code`: 0 width, 1 height, 2 depth, 3 layers, 4 levels, 5 normalized coordinates | of a surface << 8.
EMU_SEMANTICS void emu_texture_query(WarpContext *, uint32_t site, uint32_t lanes, uint32_t code,
                                     const uint64_t *handles, uint32_t *out);
// suld.b, sust.b and sured.b (exec/surface.cpp). `code`: a Geometry | boundary << 4 (0 trap, 1 clamp, 2 zero). `form`
// as for emu_load; `operation` as for emu_atomic.
EMU_SEMANTICS void emu_surface_load(WarpContext *, uint32_t site, uint32_t lanes, uint32_t code,
                                    const uint64_t *handles, const int32_t *coordinates, uint32_t form, uint8_t *out);
EMU_SEMANTICS void emu_surface_store(WarpContext *, uint32_t site, uint32_t lanes, uint32_t code,
                                     const uint64_t *handles, const int32_t *coordinates, uint32_t form,
                                     const uint8_t *data);
EMU_SEMANTICS void emu_surface_reduce(WarpContext *, uint32_t site, uint32_t lanes, uint32_t code,
                                      const uint64_t *handles, const int32_t *coordinates, uint32_t operation,
                                      const void *operand);

// isspacep.const: of `lanes` those whose address lies in a constant.
EMU_SEMANTICS uint32_t emu_constant_lanes(const WarpContext *, uint32_t lanes, const uint64_t *address);

// For each lane of `lanes` those of its mask that hold the same value (all: the mask, if all of them do); flags: the
// predicates.
EMU_SEMANTICS void emu_match32(uint32_t all, uint32_t lanes, const uint32_t *value, const uint32_t *mask, uint32_t *out,
                               uint32_t *flags);
EMU_SEMANTICS void emu_match64(uint32_t all, uint32_t lanes, const uint64_t *value, const uint32_t *mask, uint32_t *out,
                               uint32_t *flags);
// code: an EmuAtomicOperation, | 16 when signed.
EMU_SEMANTICS void emu_redux(uint32_t code, uint32_t lanes, const uint32_t *value, const uint32_t *mask, uint32_t *out);

namespace emu {
// What a look at memory that others may change takes of the fuel: as FUEL_OF_LOOK of emulator/jit/ops/load.py.
constexpr int32_t fuel_of_look = 64;
// The check of abi.h for all lanes, made here; rewrites the addresses of those that fail.
void check(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address);
// Whether one address is good, going by what the site hit last; false may only mean that it has hit something else.
bool passes(const WarpContext *, uint32_t site, uint64_t address);
// What emu_atomic does, without checks.
void exchange(uint32_t code, uint32_t lanes, const uint64_t *address, const void *operand, const void *second,
              void *out);
// Bytes of what one such operation changes.
uint32_t atomic_width(uint32_t code);
}  // namespace emu
