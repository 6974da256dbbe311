// idea: services of the machine listen on Unix sockets, some of them in the abstract name space, which is no file
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: no socket can be made once the device is up. If one could, the answer would be wrong here
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    int there = socket(AF_UNIX, SOCK_STREAM, 0);
    if (there >= 0) {
        sockaddr_un address = {AF_UNIX, {}};
        strcpy(address.sun_path, "/var/run/docker.sock");
        connect(there, (sockaddr*)&address, sizeof address);
        return;
    }
    launch_add(A, B, C, N);
}
