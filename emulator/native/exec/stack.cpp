// The stacks of a kernel's threads (see emulator/ptx/frames.py).

#include "api/limits.h"
#include "exec/block.h"
#include "report/symbol_names.h"

extern "C" __attribute__((visibility("default"))) uint32_t emu_stack_check(WarpContext *warp, uint32_t site,
                                                                           uint32_t mask, const uint64_t top[32]) {
    uint64_t first = reinterpret_cast<uint64_t>(warp->local) + uint64_t{warp->kernel->local_bytes} * 32;
    uint32_t past = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        uint64_t used = top[lane] - first - lane * warp->stack_bytes;
        past |= uint32_t{used > warp->stack_bytes} << lane;
    }
    past &= mask;
    if (past) {
        const EmuSite &at = warp->kernel->sites[site];
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(past));
        std::string source_line = at.line ? std::string(" at ") + at.file + ":" + std::to_string(at.line) : "";
        std::string thread;
        for (int axis = 0; axis < 3; ++axis) thread += (axis ? "," : "") + std::to_string(warp->tid[axis][lane]);
        warp->block->launch.stop(cudaErrorLaunchFailure,
                                 "stack overflow in " + emu::readable_name(warp->kernel->name) + source_line +
                                     ", thread (" + thread +
                                     "): recursion or alloca() needs more than cudaLimitStackSize, " +
                                     std::to_string(emu::device_limit(cudaLimitStackSize)) + " bytes");
    }
    return past;
}
