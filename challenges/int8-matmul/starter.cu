// Quantised matrix product
//   A             device, read [M x K], row-major
//   B             device, read [K x N], row-major
//   C             device, write [M x N], row-major
//   M             int, rows of A and C
//   N             int, columns of B and C
//   K             int, columns of A, rows of B
//   scale_A       float, one step of A
//   scale_B       float, one step of B
//   scale_C       float, one step of C
//   zero_point_A  int, what stands for zero in A
//   zero_point_B  int, what stands for zero in B
//   zero_point_C  int, what stands for zero in C

#include <cuda_runtime.h>
#include <cstdint>

extern "C" void solve(const int8_t* A, const int8_t* B, int8_t* C, int M, int N, int K, float scale_A, float scale_B, float scale_C, int zero_point_A, int zero_point_B, int zero_point_C) {
}
