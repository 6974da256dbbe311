// File descriptors of this library's own in a process whose program knows nothing of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace emu {

// Another number for it, where the program's own hardly ever are: some programs close all that they do not know, and open others.
inline int out_of_the_way(int descriptor) {
    constexpr int high = 512;
    int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, high);
    if (moved < 0) return descriptor;
    close(descriptor);
    return moved;
}

}  // namespace emu
