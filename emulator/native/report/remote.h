// The host's callbacks, answered by another process over a socket: emulator/standalone/server.py.
//
// A request is its kind and its size (uint32 each), then that many bytes. A reply is a cudaError code and a size, then
// that many bytes: the content or, for a failure, the reason and the name of what is not supported (one may be empty).
// Strings are a uint32 size and bytes; numbers are in the machine's byte order.
#pragma once

#include <string>

#include "host.h"

namespace emu {

bool connect_remote(const std::string &socket_path);

// False, after the reason was said, where it is not to be had.
bool ask_modelled_time(uint64_t first, uint64_t last, double *seconds);

extern const EmuCallbacks remote_callbacks;

}  // namespace emu
