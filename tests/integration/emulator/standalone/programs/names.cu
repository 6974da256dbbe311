#include <cstdio>

template <class... Parts>
struct Nested {};
template <class Part>
using Wide = Nested<Part, Nested<Part, Part>, Nested<Nested<Part>, Part>>;

template <class Kind>
__global__ void scale(float *values, float factor) {
    values[threadIdx.x] *= factor;
}

namespace deep {
template <int Depth, class... Kinds>
struct Repeat : Repeat<Depth - 1, Kinds..., Nested<Kinds...>, Wide<int>> {};
template <class... Kinds>
struct Repeat<0, Kinds...> {
    using Type = Nested<Kinds...>;
};
template <class Kind>
__global__ void repeat(float *values) {
    values[threadIdx.x] += 1;
}
}  // namespace deep

int main() {
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    float *values;
    cudaMalloc(&values, 32 * sizeof *values);
    cudaMemset(values, 0, 32 * sizeof *values);
    scale<Wide<Wide<Wide<float>>>><<<1, 32>>>(values, 2);
    deep::repeat<deep::Repeat<7, float>::Type><<<1, 32>>>(values);
    cudaFree(values);
    std::printf("%d.%d\n", properties.major, properties.minor);
}
