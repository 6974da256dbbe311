// Prepares launches: checks the shape, compiles the kernel, copies the arguments.
#pragma once

#include <cuda_runtime_api.h>

#include <string_view>

#include "api/streams.h"

namespace emu {

struct LaunchShape {
    dim3 grid, block;
    size_t dynamic_shared;
    dim3 cluster = {0, 0, 0};  // zeros: as the kernel says, else none
};

// `function` is a kernel's stub or handle. The work can be run any number of times. Breaks the context when the kernel cannot
// be compiled; other errors are the caller's to note.
cudaError_t prepare_launch(const void *function, const LaunchShape &shape, void **arguments, bool cooperative, Work *out);

struct Function;

// A launch that was recorded, now; `params` are all of the kernel's parameters as they lie in memory.
cudaError_t launch_again(Function &function, const LaunchShape &shape, std::string_view params, bool cooperative);

}  // namespace emu
