// Modules and libraries that a program has loaded: a handle stands for either.
#pragma once

#include <cuda.h>

#include "api/modules.h"

namespace emu {

// The handle of the loaded module that a kernel is of; null for one of the runtime's.
CUmodule module_with(const Function &function);

}  // namespace emu
