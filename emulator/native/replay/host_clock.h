// How much processor time the program's own code takes on the host while its work is recorded.
//
// What a thread does between two calls of the runtime is the program's. The device may go on beside it while it has
// work that the host has not waited for.
#pragma once

namespace emu {

// A call of the runtime, for as long as it exists. Calls within a call are part of it.
class RuntimeCall {
public:
    RuntimeCall();
    ~RuntimeCall();
    RuntimeCall(const RuntimeCall &) = delete;

private:
    bool counts_;
};

// A function of the program's that the runtime calls, for as long as it exists.
class HostFunction {
public:
    HostFunction();
    ~HostFunction();
    HostFunction(const HostFunction &) = delete;

    // On this thread.
    static bool is_running();

private:
    unsigned depth_;
};

// The device has got work, or the host has waited for it.
void note_device_busy(bool busy);

}  // namespace emu
