// The limits that cudaDeviceSetLimit sets.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace emu {

// Returns 0 for a limit that does not exist.
size_t device_limit(cudaLimit which);

}  // namespace emu
