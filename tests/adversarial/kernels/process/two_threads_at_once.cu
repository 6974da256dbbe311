// idea: a constructor's thread replies for the runner while solve never comes back, so that no later call is made
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV or WA or TLE or RE
// caught by: a reply needs the nonce of its request, and its outputs are looked at
#include <atomic>
#include <cstdint>
#include <cstring>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include "common/vector_add.cuh"

#pragma pack(push, 1)
struct Reply {
    uint32_t magic = 0x4A475047;
    uint16_t op = 0x8004, flags = 0;
    uint64_t nonce = 1;
    uint32_t length = 18;
    char body[18] = {};
};
#pragma pack(pop)

static std::atomic<bool> running{false};

static void replies() {
    while (!running) usleep(50);
    for (int fd = 3; fd < 64; fd++) {
        int type;
        socklen_t size = sizeof type;
        Reply reply;
        if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0) (void)!write(fd, &reply, sizeof reply);
    }
}

__attribute__((constructor)) static void begin() { std::thread(replies).detach(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    running = true;
    for (;;) pause();
}
