// CUTLASS's grouped product for sm_90a: warps copy by tensor maps, which the kernel changes for each group. Prints PASS
// if all numbers, which are small integers, are right.
#include <cstdio>
#include <vector>

#include "cute/tensor.hpp"
#include "cutlass/epilogue/collective/collective_builder.hpp"
#include "cutlass/gemm/collective/collective_builder.hpp"
#include "cutlass/gemm/device/gemm_universal_adapter.h"
#include "cutlass/gemm/group_array_problem_shape.hpp"
#include "cutlass/gemm/kernel/gemm_universal.hpp"
#include "cutlass/util/packed_stride.hpp"

using Half = cutlass::half_t;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;
using Sizes = cute::Shape<int, int, int>;
using Tile = cute::Shape<cute::_64, cute::_64, cute::_64>;
using Cluster = cute::Shape<cute::_1, cute::_1, cute::_1>;
using Sm90 = cutlass::arch::Sm90;
using TensorCores = cutlass::arch::OpClassTensorOp;

using Epilogue = cutlass::epilogue::collective::CollectiveBuilder<
    Sm90, TensorCores, Tile, Cluster, cutlass::epilogue::collective::EpilogueTileAuto, float, float, float, Row*, 4, float,
    Row*, 4, cutlass::epilogue::PtrArrayTmaWarpSpecializedPingpong>::CollectiveOp;
using Mainloop = cutlass::gemm::collective::CollectiveBuilder<
    Sm90, TensorCores, Half, Row*, 8, Half, Column*, 8, float, Tile, Cluster,
    cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(sizeof(Epilogue::SharedStorage))>,
    cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpong>::CollectiveOp;
using Kernel = cutlass::gemm::kernel::GemmUniversal<cutlass::gemm::GroupProblemShape<Sizes>, Mainloop, Epilogue>;
using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;

std::vector<void*> allocated;

template <class T>
T* on_device(const std::vector<T>& values) {
    T* memory = nullptr;
    if (cudaMalloc(&memory, values.size() * sizeof(T)) != cudaSuccess) std::abort();
    allocated.push_back(memory);
    if (cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) != cudaSuccess) std::abort();
    return memory;
}

// Small integers, other ones for each seed.
template <class T>
std::vector<T> numbers(int count, int seed) {
    std::vector<T> values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<float>((i * 7 + i / 5 * seed) % 11 - 5)));
    return values;
}

int main() {
    const std::vector<Sizes> sizes = {{100, 72, 136}, {64, 64, 64}, {8, 132, 24}, {130, 4, 72}};
    const int groups = static_cast<int>(sizes.size());
    std::vector<std::vector<Half>> a, b;
    std::vector<std::vector<float>> c;
    std::vector<const Half*> a_of, b_of;
    std::vector<const float*> c_of;
    std::vector<float*> d_of;
    std::vector<Kernel::InternalStrideA> a_strides;
    std::vector<Kernel::InternalStrideB> b_strides;
    std::vector<Kernel::InternalStrideC> c_strides;
    for (int g = 0; g < groups; ++g) {
        auto [m, n, k] = sizes[g];
        a.push_back(numbers<Half>(m * k, g + 1));
        b.push_back(numbers<Half>(n * k, g + 2));
        c.push_back(numbers<float>(m * n, g + 3));
        a_of.push_back(on_device(a[g]));
        b_of.push_back(on_device(b[g]));
        c_of.push_back(on_device(c[g]));
        d_of.push_back(on_device(std::vector<float>(m * n, -1.f)));
        a_strides.push_back(cutlass::make_cute_packed_stride(Kernel::InternalStrideA{}, {m, k, 1}));
        b_strides.push_back(cutlass::make_cute_packed_stride(Kernel::InternalStrideB{}, {n, k, 1}));
        c_strides.push_back(cutlass::make_cute_packed_stride(Kernel::InternalStrideC{}, {m, n, 1}));
    }
    Sizes* device_sizes = on_device(sizes);
    auto strides = on_device(c_strides);
    Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGrouped,
                              {groups, device_sizes, sizes.data()},
                              {on_device(a_of), on_device(a_strides), on_device(b_of), on_device(b_strides)},
                              {{}, on_device(c_of), strides, on_device(d_of), strides},
                              {0, 2}};
    arguments.epilogue.thread.alpha = 2.f;
    arguments.epilogue.thread.beta = 3.f;
    Gemm gemm;
    auto workspace = on_device(std::vector<char>(Gemm::get_workspace_size(arguments) + 1));
    if (gemm.can_implement(arguments) != cutlass::Status::kSuccess) return std::puts("cannot be done"), 1;
    if (gemm.initialize(arguments, workspace) != cutlass::Status::kSuccess) return std::puts("not initialized"), 1;
    if (gemm.run() != cutlass::Status::kSuccess) return std::puts("not launched"), 1;
    if (cudaDeviceSynchronize() != cudaSuccess) return std::puts(cudaGetErrorString(cudaGetLastError())), 1;

    int wrong = 0;
    for (int g = 0; g < groups; ++g) {
        auto [m, n, k] = sizes[g];
        std::vector<float> d(m * n);
        if (cudaMemcpy(d.data(), d_of[g], d.size() * sizeof(float), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
        for (int row = 0; row < m; ++row) {
            for (int column = 0; column < n; ++column) {
                float sum = 0;
                for (int i = 0; i < k; ++i) sum += float(a[g][row * k + i]) * float(b[g][column * k + i]);
                wrong += d[row * n + column] != 2 * sum + 3 * c[g][row * n + column];
            }
        }
    }
    for (void* memory : allocated) {
        if (cudaFree(memory) != cudaSuccess) return 1;
    }
    std::puts(wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
