// CUB over whole arrays.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

// Asks for the scratch memory, then runs.
template <class Algorithm>
int with_room(Algorithm algorithm) {
    void* room = nullptr;
    size_t bytes = 0;
    cudaError_t error = algorithm(room, bytes);
    if (!error) error = cudaMalloc(&room, bytes);
    if (!error) error = algorithm(room, bytes);
    if (!error) error = cudaDeviceSynchronize();
    cudaFree(room);
    return error;
}

struct IsOdd {
    __host__ __device__ bool operator()(int value) const { return value & 1; }
};

extern "C" int device_sum(const int* in, int* out, int n) {
    return with_room([=](void* room, size_t& bytes) { return cub::DeviceReduce::Sum(room, bytes, in, out, n); });
}
extern "C" int device_scan(const int* in, int* out, int n) {
    return with_room([=](void* room, size_t& bytes) { return cub::DeviceScan::ExclusiveSum(room, bytes, in, out, n); });
}
extern "C" int device_sort_pairs(const unsigned* keys, unsigned* sorted, const int* values, int* moved, int n) {
    return with_room([=](void* room, size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(room, bytes, keys, sorted, values, moved, n);
    });
}
extern "C" int device_select(const int* in, int* out, int* count, int n) {
    return with_room([=](void* room, size_t& bytes) { return cub::DeviceSelect::If(room, bytes, in, out, count, n, IsOdd{}); });
}
extern "C" int device_histogram(const float* in, int* bins, int levels, float from, float to, int n) {
    return with_room([=](void* room, size_t& bytes) {
        return cub::DeviceHistogram::HistogramEven(room, bytes, in, bins, levels, from, to, n);
    });
}
extern "C" int device_run_lengths(const int* in, int* values, int* lengths, int* count, int n) {
    return with_room([=](void* room, size_t& bytes) {
        return cub::DeviceRunLengthEncode::Encode(room, bytes, in, values, lengths, count, n);
    });
}
