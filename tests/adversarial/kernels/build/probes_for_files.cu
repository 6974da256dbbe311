// idea: asks the preprocessor which files there are, and would tell by its verdict
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: the compiler's jail holds nothing to be found. If there were something, it would not compile
#include "common/vector_add.cuh"
#if __has_include("/etc/passwd") || __has_include("/etc/hostname") || __has_include("/root/.bashrc") || \
    __has_include("/home") || __has_include("/var/lib/dpkg/status") || __has_include("/run/docker.sock")
#error found
#endif

extern "C" void solve(const float* A, const float* B, float* C, int N) { launch_add(A, B, C, N); }
