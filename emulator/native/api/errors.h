// Error state as the CUDA runtime keeps it: a last error for each host thread, and sticky errors for the context.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "api/context.h"
#include "replay/host_clock.h"
#include "report/session.h"

namespace emu {

// Notes `error` as this thread's last error (unless it is a success) and returns it.
cudaError_t fail(cudaError_t error);

// Breaks the context: from now on every call that touches the device returns `error`. The first one stays.
void poison(cudaError_t error, const std::string &message);

// The error that broke the context, or cudaSuccess.
cudaError_t sticky();
std::string sticky_message();

// This thread's last error; `clear` forgets it. A sticky one is forgotten, too, until the next call fails with it.
cudaError_t last_error(bool clear);

// What cudaGetErrorString() answers, where it is not the program that asks.
const char *error_text(int error);
// The same of cudaGetErrorName().
const char *error_name(int error);

// Forgets everything, sticky errors too: for hosts that go on after a broken submission.
void clear_errors();

// Why the host's callback failed that this thread called last.
std::string &failure_reason();

// While one exists, this thread carries out a call of the driver's API: an error is the result of that call and not the
// runtime's last error, and messages name the driver's functions.
class DriverCall {
public:
    DriverCall();
    ~DriverCall();
    DriverCall(const DriverCall &) = delete;
    static bool is_under_way();

private:
    bool before_;
};

// What to call a function of the runtime in a message: the driver's counterpart, where it is the driver's API that the
// program calls.
const char *called(const char *function_of_runtime);

// Says in the report that the program used something which the emulator lacks; breaks nothing.
cudaError_t unsupported_call(const char *name);

}  // namespace emu

// The first line of every call that would reach the device.
#define EMU_REQUIRE_DEVICE()                                                      \
    emu::RuntimeCall emu_runtime_call;                                            \
    do {                                                                          \
        emu::note_device_use();                                                   \
        emu::enter_context();                                                     \
        if (cudaError_t emu_broken = emu::sticky()) return emu::fail(emu_broken); \
    } while (0)

// Exported, and defined with the prototype that the toolkit's header gives.
#define EMU_API extern "C" __attribute__((visibility("default")))

// The variants of `name` for the per-thread default stream: all streams run in order here, so they are the same.
#define EMU_PER_THREAD_STREAM(name, suffix) \
    extern "C" __attribute__((visibility("default"), alias(#name))) decltype(name) name##suffix
