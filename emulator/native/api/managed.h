// Managed memory: nothing moves here, but what a program has advised it can ask for.
#pragma once

#include <cstdint>

#include "exec/memory.h"

namespace emu {

inline bool is_managed(MemoryKind kind) { return kind == MemoryKind::managed || kind == MemoryKind::managed_variable; }

// The allocation that begins there has been freed.
void forget_advice(uint64_t begin);

}  // namespace emu
