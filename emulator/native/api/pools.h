// Memory pools, for the allocations that are made from them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace emu {

// Returns whether the pool exists.
bool is_pool(cudaMemPool_t pool);
// The pool that cudaMallocAsync allocates from.
cudaMemPool_t current_pool();

void put_in_pool(cudaMemPool_t pool, uint64_t address, uint64_t size);
// Nothing happens when it is of no pool.
void take_from_pool(uint64_t address);

}  // namespace emu
