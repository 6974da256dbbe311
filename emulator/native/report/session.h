// The session of a program that runs under `python -m emulator`, without Python in its process: the library finds the
// session's folder in the environment, reads its settings there, asks about the program's code through a socket there
// (report/remote.h), and keeps its report there.
#pragma once

#include "host.h"

namespace emu {

// The callbacks of this process, connected on first use. Null outside of a session, and when the session cannot be
// reached.
const EmuCallbacks *session_callbacks();

// Applies all settings but the number of threads.
void apply(const EmuSettings &settings);

// Whether there is one.
bool in_session();

// This process has a host of its own, which answers and takes the report.
void leave_session();

// The program uses the device: processes that it forks from now on cannot use it.
void note_device_use();

// The modelled time of the program's launches from number `first` to before number `last`, where the session models it.
bool modelled_time(uint64_t first, uint64_t last, double *seconds);

}  // namespace emu
