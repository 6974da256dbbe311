// Memory pools, for the allocations that are made from them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "exec/backing_file.h"

namespace emu {

// Returns whether the pool exists.
bool is_pool(cudaMemPool_t pool);
// Whether memory can be allocated from it: it exists, and is this process's own.
bool allocates(cudaMemPool_t pool);
// What tells a pool that processes share from others; null for other pools.
std::shared_ptr<BackingFile> pool_file(cudaMemPool_t pool);
// Another process's pool, of this file.
cudaMemPool_t import_pool(std::shared_ptr<BackingFile> file);
// The pool that cudaMallocAsync allocates from.
cudaMemPool_t current_pool();
// That of memory that graphs allocate; programs do not see it.
cudaMemPool_t graph_pool();

void put_in_pool(cudaMemPool_t pool, uint64_t address, uint64_t size);
// The pool that the allocation is from; null: none.
cudaMemPool_t pool_of(uint64_t address);
// Nothing happens when it is of no pool.
void take_from_pool(uint64_t address);

}  // namespace emu
