// idea: resolvers of indirect functions run while the loader is still at work, before any constructor: starts a program
//       from there
// challenge: vector-add
// devices: emulator, cuda
// verdict: SV or CE or RE
// caught by: the filter of system calls is in force before the library is opened
#include <sys/syscall.h>
#include <unistd.h>
#include "common/vector_add.cuh"

static long raw(long number, long a, long b, long c) {
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static void work() {}

extern "C" void* resolve_helper() {
    static const char program[] = "/bin/true";
    const char* arguments[] = {program, nullptr};
    raw(SYS_execve, (long)program, (long)arguments, 0);
    return (void*)work;
}

extern "C" void helper() __attribute__((ifunc("resolve_helper")));

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    helper();
    launch_add(A, B, C, N);
}
