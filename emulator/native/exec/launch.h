// Prepares launches: checks the shape, compiles the kernel, copies the arguments.
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "api/streams.h"

namespace emu {

struct LaunchShape {
    dim3 grid, block;
    size_t dynamic_shared;
    dim3 cluster = {0, 0, 0};  // zeros: as the kernel says, else none
};

// The arguments of a launch: a pointer to each, or all of them as they lie in memory.
struct Arguments {
    Arguments(void **each) : each(each) {}
    Arguments(const void *packed, size_t bytes) : packed(packed), packed_bytes(bytes) {}

    void **each = nullptr;
    const void *packed = nullptr;
    size_t packed_bytes = 0;
};

// Gives a launch to the stream.
cudaError_t launch(const void *function, const LaunchShape &shape, cudaStream_t stream, const Arguments &arguments,
                   bool cooperative);

// The same, as cudaLaunchKernelExC() is given it.
cudaError_t launch_configured(const cudaLaunchConfig_t &config, const void *function, const Arguments &arguments);

// `function` is a kernel's stub or handle. The work can be run any number of times. Breaks the context when the kernel
// cannot be compiled; other errors are the caller's to note.
cudaError_t prepare_launch(const void *function, const LaunchShape &shape, const Arguments &arguments, bool cooperative,
                           Work *out);

// What prepare_launch() was given; false for other work. The arguments stay while the work does.
bool launch_of(const Work &work, const void **function, LaunchShape *shape, void ***arguments);

struct Function;

// Whether a kernel may launch that one so; `*limit` says which limit it is beyond. On any thread.
cudaError_t check_child(Function &function, const LaunchShape &shape, std::string *limit);

// A launch that was recorded, now; `params` are all of the kernel's parameters as they lie in memory.
cudaError_t launch_again(Function &function, const LaunchShape &shape, std::string_view params, bool cooperative);

}  // namespace emu
