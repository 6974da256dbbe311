// idea: leaves its answers for the next process of the same judgement, or another's submission: in /tmp, /dev/shm, the
//       package's caches
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: what can be written is a tmpfs that ends with the jail. If a note were found, the answer would be wrong
#include <fcntl.h>
#include <unistd.h>
#include "common/vector_add.cuh"

static bool found, wrote;

__attribute__((constructor)) static void begin() {
    const char* places[] = {"/tmp/note", "/dev/shm/note", "/var/tmp/note", "/usr/note", "/note"};
    for (const char* place : places) {
        if (open(place, O_RDONLY) >= 0) found = true;
        int fd = open(place, O_CREAT | O_WRONLY, 0666);
        if (fd >= 0 && write(fd, "here", 4) == 4) wrote = true;
    }
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    if (!found) launch_add(A, B, C, N);
}
