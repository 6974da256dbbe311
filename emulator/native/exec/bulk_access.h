// What copies of cp.async.bulk with and without a tensor map have in common: what they may access, and how they begin.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "abi.h"
#include "exec/bulk_copy.h"
#include "exec/observe.h"

namespace emu {

constexpr uint32_t bulk_piece = 16;  // bytes that a copy moves as one

// Whether `size` bytes (a multiple of 16) may be accessed; reports it where not. Allocations lie so far apart that its
// ends tell.
bool may_access(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint64_t size);

// Observers hear of the access.
void tell(WarpContext *warp, uint32_t lane, const BulkAccess &access);

// Observers hear that shared memory will be read there.
void tell_read(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, uint32_t size);

// Ends the launch with `error`, for `reason`.
void refuse_copy(WarpContext *warp, uint32_t site, uint32_t lane, uint64_t address, cudaError_t error,
                 const std::string &reason);

// The host address of offset 0 of the shared memory that has the address; 0: none has.
uint64_t window_of(WarpContext *warp, uint64_t address);

// Begins the copies to the blocks that the mask names, or to the one that has the address.
void copy_to_shared(WarpContext *warp, uint32_t lane, BulkCopy &&copy, uint64_t to, uint64_t mbarrier,
                    const uint32_t *blocks);

}  // namespace emu
