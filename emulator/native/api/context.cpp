// The end of the context. The next call begins another one: there is nothing to be made for it.

#include "api/context.h"

#include <atomic>

#include "api/arrays.h"
#include "api/errors.h"
#include "api/image_calls.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/memory.h"
#include "exec/scheduler.h"
#include "host.h"

using namespace emu;

namespace {

std::atomic<bool> has_reset{false};

}  // namespace

// Everything of the process goes, whoever made it. Sticky errors stay, which only the end of the process clears on
// hardware, too; resetting a broken context succeeds all the same.
EMU_API cudaError_t cudaDeviceReset(void) {
    if (sticky()) return cudaSuccess;
    wait_for_device();
    if (sticky()) return cudaSuccess;
    LaunchPause pause;  // a launch on another host thread uses all this until its end
    end_of_leak_check();
    forget_graphs();
    forget_streams();
    forget_pools();
    forget_device_heap();
    forget_limits();
    unload_modules();
    forget_arrays();
    forget_images();
    leave_primary_context();
    forget_imports();
    // Variables stay where they are, and memory that the program maps itself is of no context.
    memory().release_all(~(kind_bit(MemoryKind::variable) | kind_bit(MemoryKind::constant) |
                           kind_bit(MemoryKind::managed_variable) | kind_bit(MemoryKind::mapped)));
    has_reset = true;
    return cudaSuccess;
}

// Whether the program has ever reset the device.
EMU_HOST int emu_has_reset() { return has_reset; }
