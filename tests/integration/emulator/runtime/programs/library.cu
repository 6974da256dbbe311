// CUB and Thrust on memory that the caller has.
#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/reduce.h>

extern "C" float thrust_reduce(float* values, int n) {
    thrust::device_ptr<float> begin(values);
    return thrust::reduce(begin, begin + n);
}

extern "C" void cub_scan(const int* in, int* out, int n) {
    void* room = nullptr;
    size_t bytes = 0;
    cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n);
    cudaMalloc(&room, bytes);
    cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n);
    cudaFree(room);
}
