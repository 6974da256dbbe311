// The host's answers, from another process over a socket: emulator/standalone/server.py.
//
// A question is its kind and its size (uint32 each), then that many bytes; an answer is a cudaError code and its size, then that
// many bytes: the content, or for a failure the reason and what is not supported (one may be empty). Strings are a uint32 size
// and bytes; numbers are as the machine has them.
#pragma once

#include <string>

#include "host.h"

namespace emu {

bool connect_remote(const std::string &socket_path);

extern const EmuCallbacks remote_callbacks;

}  // namespace emu
