// Softmax attention
//   Q       device, read [M x d], queries, row-major
//   K       device, read [N x d], keys, row-major
//   V       device, read [N x d], values, row-major
//   output  device, write [M x d], row-major
//   M       int, number of queries
//   N       int, number of keys and values
//   d       int, length of each

#include <cuda_runtime.h>

extern "C" void solve(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
}
