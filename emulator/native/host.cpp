// What the hosting process calls besides what the other files export.

#include "host.h"

#include <unistd.h>

#include <algorithm>

#include "api/device_model.h"
#include "api/errors.h"
#include "api/streams.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "profile/profile.h"
#include "report/report.h"
#include "report/session.h"

using namespace emu;

void emu::apply(const EmuSettings &settings) {
    uint64_t physical = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
    bool limited = settings.memory_bytes != 0;
    memory().set_capacity(limited ? settings.memory_bytes : physical / 4 * 3, limited);
    seed_queue(settings.order != 0, settings.order == 2, settings.seed);
    set_limits({settings.warp_instructions, settings.wall_s, settings.order != 0, settings.order == 2, settings.seed});
    set_observe({settings.check_full != 0, settings.profile != 0, settings.tell_silent != 0});
    set_l2(settings.l2_bytes);
    device_model::Size size;
    if (settings.multiprocessors) {
        size.name = settings.gpu_name;
        size.major = static_cast<int>(settings.major);
        size.minor = static_cast<int>(settings.minor);
        size.multiprocessors = static_cast<int>(settings.multiprocessors);
        size.clock_khz = static_cast<int>(settings.clock_khz);
        size.memory_clock_khz = static_cast<int>(settings.memory_clock_khz);
        size.memory_bus_bits = static_cast<int>(settings.bus_bits);
        size.l2_bytes = settings.l2_bytes;
        size.threads_per_multiprocessor = static_cast<int>(settings.resident_threads);
        size.blocks_per_multiprocessor = static_cast<int>(settings.resident_blocks);
        size.shared_per_multiprocessor = settings.shared_bytes;
        size.shared_reserved_per_block = settings.reserved_shared_bytes;
    }
    device_model::set_size(size);
}

EMU_HOST void emu_configure(const EmuSettings *settings) {
    apply(*settings);
    start_threads(settings->threads);
}

// What is looked for in the launches from now on, at a price: races and the like; what the profile needs.
EMU_HOST void emu_set_observe(uint32_t check_full, uint32_t profile) {
    wait_for_device();
    set_observe({check_full != 0, profile != 0, observe_settings().tell_silent});
}

// The error that a synchronisation of the whole device would show: a sticky one, or this thread's last, which is
// forgotten.
// `*message` lives until the next call.
EMU_HOST int emu_take_error(const char **message) {
    static thread_local std::string text;
    wait_for_device();
    text = sticky_message();
    cudaError_t error = last_error(true);
    if (sticky()) error = sticky();
    if (text.empty()) text = error_text(error);
    *message = text.c_str();
    return error;
}

// Forgets all errors, sticky ones too.
EMU_HOST void emu_clear_errors() {
    wait_for_device();
    clear_errors();
}

EMU_HOST void emu_set_unsupported(const char *what) { report().set_unsupported(what); }

// Why the callback that runs on this thread is about to fail.
EMU_HOST void emu_set_reason(const char *why) { failure_reason() = why; }

// Whether the host's code is kept from the device's memory.
EMU_HOST void emu_set_shield(int on) { memory().set_shield(on != 0); }

// Whether one allocation has all of these bytes.
EMU_HOST int emu_holds(uint64_t address, uint64_t size) {
    auto found = memory().find(address);
    return found && size <= found->end - address;
}
