// expect: case=tiny
#include <iostream>
#include <cuda_runtime.h>

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
    for (long long i = 0;; i++) std::cout << "row " << i << " done" << std::endl;
}
