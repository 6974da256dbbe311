// Matrix product in half precision
//   A      device, read [M x K], row-major
//   B      device, read [K x N], row-major
//   C      device, read and write [M x N], row-major; added to, then overwritten
//   M      int, rows of A and C
//   N      int, columns of B and C
//   K      int, columns of A, rows of B
//   alpha  float, factor of the product
//   beta   float, factor of what C holds on entry

#include <cuda_runtime.h>
#include <cuda_fp16.h>

extern "C" void solve(const half* A, const half* B, half* C, int M, int N, int K, float alpha, float beta) {
}
