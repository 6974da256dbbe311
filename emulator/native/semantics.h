// Helpers that generated code calls for instructions which are not worth emitting inline. Arrays have one element per lane; a vector
// access has `count` such arrays one after another. `lanes` is a bit per active lane; other lanes' elements are left alone.
#pragma once

#include "abi.h"

#define EMU_SEMANTICS extern "C" __attribute__((visibility("default")))

// Where the inline check of an access failed: check, then do it lane by lane at the addresses the check leaves.
EMU_SEMANTICS void emu_load_slow(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address, uint32_t size,
                                 uint32_t count, uint8_t *out);
EMU_SEMANTICS void emu_store_slow(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address, uint32_t size,
                                  uint32_t count, const uint8_t *data);

// Operation and type codes of emu_atomic, as emulator/jit/ops/atomic.py has them: operation | type << 4 | shared << 8.
enum EmuAtomicOperation : uint32_t { ATOM_ADD, ATOM_MIN, ATOM_MAX, ATOM_EXCH, ATOM_CAS, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_INC, ATOM_DEC };
enum EmuAtomicType : uint32_t {
    ATOM_U32, ATOM_S32, ATOM_F32, ATOM_U64, ATOM_S64, ATOM_F64, ATOM_F16, ATOM_BF16, ATOM_F16X2, ATOM_BF16X2, ATOM_B16
};
EMU_SEMANTICS void emu_atomic(WarpContext *, uint32_t code, uint32_t site, uint32_t lanes, uint64_t *address,
                              const void *operand, const void *second, void *old);

// cp.async: `wanted` bytes of `size` are copied, the rest is zeroed.
EMU_SEMANTICS void emu_cp_async(WarpContext *, uint32_t load_site, uint32_t store_site, uint32_t lanes, uint64_t *to,
                                uint64_t *from, uint32_t size, const uint32_t *wanted);

namespace emu {
// The check of abi.h for all lanes, made here; rewrites the addresses of those that fail.
void check(WarpContext *, uint32_t site, uint32_t lanes, uint64_t *address);
}  // namespace emu
