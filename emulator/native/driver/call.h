// The driver's API, over the runtime's: both are one library here, with the same memory, streams, modules, errors and
// findings.
//
// Each function is a lambda of runtime calls within in_context() or initialized(), which say whether the program may
// call it now, and turn the error into a CUresult. `cuda.h` maps names to their newest form: what is defined as
// cuMemAlloc is exported as cuMemAlloc_v2.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "api/errors.h"

namespace emu {

// The driver's counterpart of a runtime error.
CUresult result_of(cudaError_t error);

// Why the program may not call the driver now: it has not called cuInit(), or the thread has no context.
cudaError_t refusal(bool needs_context);

template <class Work>
CUresult call_driver(Work &&work, bool needs_context) {
    DriverCall call;
    cudaError_t refused = refusal(needs_context);
    return result_of(refused ? fail(refused) : work());
}

template <class Work>
CUresult in_context(Work &&work) {
    return call_driver(work, true);
}
template <class Work>
CUresult initialized(Work &&work) {
    return call_driver(work, false);
}

// For questions whose answer may well be an error: it is none that the program has to look at.
template <class Work>
CUresult asked(Work &&work) {
    DriverCall call;
    cudaError_t refused = refusal(true);
    return result_of(refused ? refused : work());
}

}  // namespace emu

// Exported under another name as well: `name` as cuda.h has it, `also` as it is. Old forms that 64-bit programs call
// alike, and those for the per-thread default stream, which are the same here.
#define EMU_ALSO(name, also) \
    extern "C" __attribute__((visibility("default"), alias(#name))) decltype(name) also_##also __asm__(#also)

// A function of the driver's that is one of the runtime's by another name.
#define EMU_FORWARD(name, function, parameters, arguments)          \
    EMU_API CUresult name parameters {                              \
        return emu::in_context([=] { return function arguments; }); \
    }
