// idea: a thread does the launching when solve has come back
// challenge: vector-add
// devices: emulator, cuda
// verdict: RE or SV
// caught by: no thread can be made once the submission is loaded
#include <thread>
#include <unistd.h>
#include "common/vector_add.cuh"

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    std::thread([=] {
        usleep(300);
        launch_add(A, B, C, N);
    }).detach();
}
