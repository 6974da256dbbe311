// What cudaDeviceSetLimit sets.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace emu {

// 0 for those that do not exist.
size_t device_limit(cudaLimit which);

}  // namespace emu
