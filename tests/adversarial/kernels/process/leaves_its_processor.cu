// idea: the empty calls that stand for what surrounds a call are made on the same processor: goes to another one, that
//       answers sooner, or changes how it is scheduled there; where it can, it gives no right answer
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: where and when the process runs is settled before it is loaded
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "common/vector_add.cuh"

static bool changed;

static void change() {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < CPU_SETSIZE; i++) CPU_SET(i, &set);
    changed |= syscall(SYS_sched_setaffinity, 0, sizeof set, &set) == 0;
    for (int i = 0; i < 256; i++) {
        CPU_ZERO(&set);
        CPU_SET(i, &set);
        changed |= syscall(SYS_sched_setaffinity, getpid(), sizeof set, &set) == 0;
    }
    sched_param none = {};
    unsigned attributes[12] = {sizeof attributes, SCHED_BATCH};
    changed |= syscall(SYS_sched_setscheduler, 0, SCHED_BATCH, &none) == 0;
    changed |= syscall(SYS_sched_setattr, 0, attributes, 0) == 0;
    changed |= syscall(SYS_setpriority, 0, 0, 1) == 0;
    changed |= prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0;
    changed |= prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) == 0;
    changed |= prctl(62 /* PR_SCHED_CORE */, 1, 0, 0, 0) == 0;
}

__attribute__((constructor)) static void begin() { change(); }

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    change();
    if (!changed) launch_add(A, B, C, N);
}
