// A program under `python -m emulator`. No Python is in it: this library finds the folder of the session in its environment, reads
// its settings there, asks for what is in the program through a socket there (see remote.h), and keeps its report there.
#pragma once

#include "host.h"

namespace emu {

// Who answers the questions of this process, once connected. Null outside of a session, and when it cannot be reached.
const EmuCallbacks *session_callbacks();

// Everything in them but the threads.
void apply(const EmuSettings &settings);

// The process has a host of its own, which answers and takes the report.
void leave_session();

// The program uses the device: what it forks from now on cannot.
void note_device_use();

}  // namespace emu
