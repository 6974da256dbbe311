// idea: the runner's own socket leads outside: passes a descriptor through it (SCM_RIGHTS), for whoever reads there
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV
// caught by: bytes that nobody asked for end the session; descriptors are not taken in
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    for (int fd = 3; fd < 64; fd++) {
        char byte = 'x', control[CMSG_SPACE(sizeof(int))] = {};
        iovec piece = {&byte, 1};
        msghdr message = {};
        message.msg_iov = &piece;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
        sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}
