// What cudaDeviceReset() destroys. Each function forgets what one part of the runtime keeps for the context.
#pragma once

namespace emu {

void forget_streams();
void forget_graphs();
void forget_pools();
void forget_limits();
void forget_device_heap();
// Modules load anew when they are next used: their variables stay where they are and get their initial values.
void unload_modules();

}  // namespace emu
