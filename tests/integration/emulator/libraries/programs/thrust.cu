// Thrust's algorithms on vectors of its own. Results go to host memory.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

struct IsNegative {
    __host__ __device__ bool operator()(int value) const { return value < 0; }
};

extern "C" int thrust_sort_unique(const int* host, int* out, int n) {
    thrust::device_vector<int> values(host, host + n);
    thrust::sort(values.begin(), values.end());
    auto end = thrust::unique(values.begin(), values.end());
    thrust::copy(values.begin(), end, out);
    return int(end - values.begin());
}
extern "C" int thrust_copy_if(const int* host, int* out, int n) {
    thrust::device_vector<int> values(host, host + n), kept(n);
    auto end = thrust::copy_if(values.begin(), values.end(), kept.begin(), IsNegative{});
    thrust::copy(kept.begin(), end, out);
    return int(end - kept.begin());
}
extern "C" void thrust_scan(const int* host, int* out, int n) {
    thrust::device_vector<int> values(host, host + n);
    thrust::inclusive_scan(values.begin(), values.end(), values.begin(), thrust::maximum<int>());
    thrust::copy(values.begin(), values.end(), out);
}
// Sums by key: sorts, then reduces runs of a key.
extern "C" int thrust_by_key(const int* host_keys, const double* host_values, int* keys_out, double* sums_out, int n) {
    thrust::device_vector<int> keys(host_keys, host_keys + n), found(n);
    thrust::device_vector<double> values(host_values, host_values + n), sums(n);
    thrust::stable_sort_by_key(keys.begin(), keys.end(), values.begin(), thrust::greater<int>());
    auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), found.begin(), sums.begin());
    thrust::copy(found.begin(), ends.first, keys_out);
    thrust::copy(sums.begin(), ends.second, sums_out);
    return int(ends.first - found.begin());
}
