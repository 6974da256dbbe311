// Allocations of the program, as the calls that make and free them have in common.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "exec/memory.h"

namespace emu {

struct Stream;

// Memory of `kind`, which reports name after `call`; at `at`, when that is not 0. Notes the error, if any.
cudaError_t allocate(void **out, size_t size, MemoryKind kind, const char *call, unsigned flags = 0, uint64_t at = 0);
// Frees what begins at `pointer`, if it is of `kinds`; else `otherwise`. `on` null: the whole device is waited for.
cudaError_t release(void *pointer, unsigned kinds, cudaError_t otherwise, Stream *on = nullptr);
// The same without waiting for anything: for work whose turn has come.
cudaError_t release_now(void *pointer, unsigned kinds, cudaError_t otherwise);

}  // namespace emu
