// File descriptors of this library in a process whose program does not know of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace emu {

// Moves the descriptor to a high number: some programs close low descriptors that they do not know, and reuse them.
inline int out_of_the_way(int descriptor) {
    constexpr int high = 512;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, high);
    if (moved < 0) return descriptor;
    close(descriptor);
    return moved;
}

}  // namespace emu
