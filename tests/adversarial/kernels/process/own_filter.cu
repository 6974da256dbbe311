// idea: puts a filter of its own on: whatever the runner writes is said to have been written, and is not
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or TLE or SV
// caught by: a request without a reply is no success
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    launch_add(A, B, C, N);
    cudaDeviceSynchronize();
    sock_filter rules[] = {
        {BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_write},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | 5},
        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
    };
    sock_fprog program{4, rules};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
