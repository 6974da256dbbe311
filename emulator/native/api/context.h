// What cudaDeviceReset() destroys. Each function forgets what one part of the runtime keeps for the context.
#pragma once

namespace emu {

// The runtime is used: it begins the driver, as cuInit() does.
void begin_driver();
// Gives this thread the primary context, unless it has one: the driver's API may have given it another
// (driver/contexts.cpp).
void enter_context();
// Nothing of the runtime's is in the primary context from now on.
void leave_primary_context();

void forget_streams();
void forget_graphs();
void forget_pools();
void forget_imports();
void forget_limits();
void forget_device_heap();
// Modules load anew when they are next used: their variables stay where they are and get their initial values.
void unload_modules();

}  // namespace emu
