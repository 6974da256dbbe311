// idea: keys and addresses of databases live in environments: of this process, and of those that have a number in /proc
// challenge: vector-add
// devices: emulator, cuda
// verdict: AC
// caught by: the environment is a few constants, and no other process is to be seen. If there were, the answer would be wrong
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "common/vector_add.cuh"

extern char** environ;

static bool is_secret(const char* text) {
    for (const char* word : {"GPUJUDGE", "SECRET", "TOKEN", "PASSWORD", "postgres", "redis:"}) {
        if (strstr(text, word)) return true;
    }
    return false;
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    for (char** entry = environ; *entry; entry++) {
        if (is_secret(*entry)) return;
    }
    for (int pid = 1; pid < 200; pid++) {
        char path[64], text[1 << 16];
        snprintf(path, sizeof path, "/proc/%d/environ", pid);
        FILE* file = fopen(path, "rb");
        size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
        if (file) fclose(file);
        for (size_t i = 0; i < size; i++) text[i] = text[i] ? text[i] : ' ';
        text[size] = 0;
        if (is_secret(text)) return;
    }
    launch_add(A, B, C, N);
}
